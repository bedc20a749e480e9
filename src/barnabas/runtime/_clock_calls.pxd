# The clocks of Linux, which Python's `perf_counter_ns` and `time_ns` read too; -1 on other systems.

cdef extern from *:
    """
    #include <time.h>
    static long long barnabas_clock_ns(int clock) {
    #ifdef __linux__
        struct timespec now;
        if (clock_gettime((clockid_t)clock, &now) == 0)
            return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
    #endif
        return -1;
    }
    static long long barnabas_perf_ns(void) { return barnabas_clock_ns(CLOCK_MONOTONIC); }
    static long long barnabas_time_ns(void) { return barnabas_clock_ns(CLOCK_REALTIME); }
    """
    long long barnabas_perf_ns() nogil
    long long barnabas_time_ns() nogil
