/* burst HOST BURSTS EACH: sends bursts of so many datagrams each to port 99 of the host.  Each says the number of its
   burst, its own number there, and when it was sent, in ns: by CLOCK_MONOTONIC and by CLOCK_REALTIME. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long long ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(99)};
	int any = socket(AF_INET, SOCK_DGRAM, 0);

	if (count != 4 || !inet_pton(AF_INET, words[1], &to.sin_addr))
		return 2;
	int bursts = atoi(words[2]), each = atoi(words[3]);

	for (int burst = 0; burst < bursts; burst++) {
		for (int i = 0; i < each; i++) {
			char said[64];
			int size = snprintf(said, sizeof said, "#%d %d %lld %lld;", burst, i, ns(CLOCK_MONOTONIC),
					    ns(CLOCK_REALTIME));

			sendto(any, said, size, 0, (struct sockaddr *)&to, sizeof to);
		}
		usleep(20000);
	}
	return 0;
}
