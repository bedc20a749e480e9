# Numbers that several threads change without the interpreter lock, and a pause between two looks at
# such a number.
#
# A thread that has loaded a number sees everything that another thread wrote before it changed this
# number here.

cdef extern from *:
    """
    #include <sched.h>
    #include <unistd.h>

    static inline Py_ssize_t barnabas_load(const Py_ssize_t *number) {
        return __atomic_load_n(number, __ATOMIC_ACQUIRE);
    }
    static inline void barnabas_store(Py_ssize_t *number, Py_ssize_t value) {
        __atomic_store_n(number, value, __ATOMIC_SEQ_CST);
    }
    static inline void barnabas_add(Py_ssize_t *number, Py_ssize_t value) {
        __atomic_add_fetch(number, value, __ATOMIC_SEQ_CST);
    }
    static inline int barnabas_compare_exchange(
        Py_ssize_t *number, Py_ssize_t *expected, Py_ssize_t value
    ) {
        return __atomic_compare_exchange_n(
            number, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST
        );
    }
    /* The first pauses are short: most waits end within some microseconds. */
    static void barnabas_pause(int turn) {
        if (turn < 100)
            sched_yield();
        else
            usleep(50);
    }
    """
    Py_ssize_t atomic_load "barnabas_load"(const Py_ssize_t* number) nogil
    void atomic_store "barnabas_store"(Py_ssize_t* number, Py_ssize_t value) nogil
    void atomic_add "barnabas_add"(Py_ssize_t* number, Py_ssize_t value) nogil
    # Stores `value` if the number is `expected`; else sets `expected` to the number, returns False.
    bint atomic_compare_exchange "barnabas_compare_exchange"(
        Py_ssize_t* number, Py_ssize_t* expected, Py_ssize_t value
    ) nogil
    # Waits before the next look; `turn` counts the looks from 0 on.
    void atomic_pause "barnabas_pause"(int turn) nogil
