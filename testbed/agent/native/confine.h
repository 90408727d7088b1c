/* Where a confined program finds a pseudo-terminal that was opened for it. */

enum { TERMINAL_MASTER = 198, TERMINAL_SLAVE = 199 };
