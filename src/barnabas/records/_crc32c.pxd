# CRC-32C in C, so that compiled code can verify many batches without the interpreter lock.
#
# It uses the CRC instruction of x86-64 processors (SSE 4.2). The instruction has a latency of three
# cycles, so three streams are computed at the same time; tables shift the checksum of a stream over
# the streams that follow it. `crc32c_supported()` is 0 on other processors and compilers: the caller
# uses the package `crc32c` there. Call `crc32c_prepare()` once before `crc32c_of()`.

cdef extern from *:
    """
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    #include <nmmintrin.h>
    #include <string.h>

    #define BARNABAS_CRC_STREAM 1024  /* bytes; a multiple of 8 */

    static unsigned int barnabas_crc_shift[4][256];

    static int barnabas_crc32c_supported(void) {
        return __builtin_cpu_supports("sse4.2");
    }

    /* Fills the tables: the checksum after a stream of zero bytes, for each byte of a checksum. */
    __attribute__((target("sse4.2")))
    static void barnabas_crc32c_prepare(void) {
        unsigned int of_bit[32];
        for (int bit = 0; bit < 32; bit++) {
            unsigned long long crc = 1u << bit;
            for (int at = 0; at < BARNABAS_CRC_STREAM; at += 8) crc = _mm_crc32_u64(crc, 0);
            of_bit[bit] = (unsigned int)crc;
        }
        for (int place = 0; place < 4; place++)
            for (int byte = 0; byte < 256; byte++) {
                unsigned int crc = 0;
                for (int bit = 0; bit < 8; bit++)
                    if (byte >> bit & 1) crc ^= of_bit[8 * place + bit];
                barnabas_crc_shift[place][byte] = crc;
            }
    }

    static inline unsigned int barnabas_crc_shifted(unsigned long long crc) {
        return barnabas_crc_shift[0][crc & 0xff] ^ barnabas_crc_shift[1][crc >> 8 & 0xff]
            ^ barnabas_crc_shift[2][crc >> 16 & 0xff] ^ barnabas_crc_shift[3][crc >> 24 & 0xff];
    }

    static inline unsigned long long barnabas_crc_word(const unsigned char *data) {
        unsigned long long word;
        memcpy(&word, data, 8);
        return word;
    }

    __attribute__((target("sse4.2")))
    static unsigned int barnabas_crc32c_of(
        const unsigned char *data, Py_ssize_t size, unsigned int before
    ) {
        const Py_ssize_t stream = BARNABAS_CRC_STREAM;
        unsigned long long first = (unsigned int)~before;
        for (; size >= 3 * stream; data += 3 * stream, size -= 3 * stream) {
            unsigned long long second = 0, third = 0;
            for (Py_ssize_t at = 0; at < stream; at += 8) {
                first = _mm_crc32_u64(first, barnabas_crc_word(data + at));
                second = _mm_crc32_u64(second, barnabas_crc_word(data + stream + at));
                third = _mm_crc32_u64(third, barnabas_crc_word(data + 2 * stream + at));
            }
            second ^= barnabas_crc_shifted(first);
            first = third ^ barnabas_crc_shifted(second);
        }
        for (; size >= 8; data += 8, size -= 8)
            first = _mm_crc32_u64(first, barnabas_crc_word(data));
        unsigned int crc = (unsigned int)first;
        for (; size > 0; data++, size--) crc = _mm_crc32_u8(crc, *data);
        return ~crc;
    }
    #else
    static int barnabas_crc32c_supported(void) { return 0; }
    static void barnabas_crc32c_prepare(void) {}
    static unsigned int barnabas_crc32c_of(
        const unsigned char *data, Py_ssize_t size, unsigned int before
    ) { return 0; }
    #endif
    """
    bint crc32c_supported "barnabas_crc32c_supported"() nogil
    void crc32c_prepare "barnabas_crc32c_prepare"() nogil
    # The checksum of bytes whose predecessors have the checksum `before`; 0 at the beginning.
    unsigned int crc32c_of "barnabas_crc32c_of"(
        const unsigned char* data, Py_ssize_t size, unsigned int before
    ) nogil
