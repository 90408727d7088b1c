/* Sends bursts of datagrams to port 99 of the host HOST.  Each says the number of its burst, its own number there, and
   when it was sent, in ns: by CLOCK_MONOTONIC and by CLOCK_REALTIME. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BURSTS 60
#define EACH 8

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

	if (count != 2 || !inet_pton(AF_INET, words[1], &to.sin_addr))
		return 2;
	for (int burst = 0; burst < BURSTS; burst++) {
		for (int i = 0; i < EACH; i++) {
			char said[64];
			int size = snprintf(said, sizeof said, "#%d %d %lld %lld;", burst, i, ns(CLOCK_MONOTONIC),
					    ns(CLOCK_REALTIME));

			sendto(any, said, size, 0, (struct sockaddr *)&to, sizeof to);
		}
		usleep(20000);
	}
	return 0;
}
