# System calls on a socket that does not block; the caller checks errors by the Python function.

cdef extern from *:
    """
    #include <errno.h>
    #include <poll.h>
    #include <sys/types.h>
    #include <sys/socket.h>
    #ifndef MSG_NOSIGNAL
    #define MSG_NOSIGNAL 0
    #endif
    static Py_ssize_t barnabas_recv(int fd, void *data, size_t size) {
        return recv(fd, data, size, MSG_DONTWAIT);
    }
    static Py_ssize_t barnabas_send(int fd, const void *data, size_t size) {
        return send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    /* Waits for `step` bytes, or for `wanted` if these are fewer; returns whether they are there.
       Elsewhere than on Linux it waits for any bytes: the transport resets the limit only there. */
    static int barnabas_wait_readable(int fd, size_t wanted, size_t step, int timeout_ms) {
        struct pollfd entry = { fd, POLLIN, 0 };
    #ifdef __linux__
        int low_water = (int)(wanted < step ? wanted : step);
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof low_water);
    #endif
        return poll(&entry, 1, timeout_ms) > 0;
    }
    /* Receives until `data` is full, `step` bytes have not arrived within `idle_ms`, or the connection
       ends. Returns the number of bytes, or a negative error number if there were none. The next
       recv reports the end. */
    static Py_ssize_t barnabas_recv_rest(
        int fd, unsigned char *data, size_t size, size_t step, int idle_ms
    ) {
        size_t done = 0;
        while (done < size) {
            ssize_t count = recv(fd, data + done, size - done, MSG_DONTWAIT);
            if (count > 0)
                done += count;
            else if (count == 0)
                break;
            else if (errno != EAGAIN && errno != EWOULDBLOCK)
                return done > 0 ? (Py_ssize_t)done : -errno;
            else if (!barnabas_wait_readable(fd, size - done, step, idle_ms))
                break;
        }
        return done;
    }
    """
    Py_ssize_t barnabas_recv(int fd, void* data, size_t size) nogil
    Py_ssize_t barnabas_send(int fd, const void* data, size_t size) nogil
    Py_ssize_t barnabas_recv_rest(
        int fd, unsigned char* data, size_t size, size_t step, int idle_ms
    ) nogil
