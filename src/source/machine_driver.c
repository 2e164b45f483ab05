#include "source/machine_driver.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"

bool driver_wait(int fd)
{
    char order;
    ssize_t length;
    do
        length = recv(fd, &order, sizeof order, 0);
    while (length < 0 && errno == EINTR);
    return length == sizeof order;
}

/* Waits for room: the sampler reads whenever it is not waiting for anything else. */
void driver_say(int fd, const struct driver_message *message)
{
    ssize_t length;
    do
        length = send(fd, message, sizeof *message, MSG_NOSIGNAL);
    while (length < 0 && errno == EINTR);
}

void driver_end(int fd, enum reading_state state, const char *version)
{
    struct driver_message message = {.kind = DRIVER_END, .end.state = state};
    snprintf(message.end.version, sizeof message.end.version, "%s", version);
    driver_say(fd, &message);
}

int64_t driver_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t driver_unix_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}
