# System calls on a socket that does not block; the caller checks errors by the Python function.

cdef extern from *:
    """
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
    """
    Py_ssize_t barnabas_recv(int fd, void* data, size_t size) nogil
    Py_ssize_t barnabas_send(int fd, const void* data, size_t size) nogil
