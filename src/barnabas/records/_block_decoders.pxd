# Decompresses snappy and lz4 in C, so that compiled code needs neither a Python call nor the
# interpreter lock for a batch.
#
# `expand_section()` accepts what Kafka's clients write: a raw snappy block or xerial framing, and
# one lz4 frame without checksums of its content. For everything else, and for all invalid input, it
# returns SECTION_REFUSED: then `compression` must decide, and raise the errors. It never accepts
# bytes that `compression` rejects: the rules for the end of an lz4 block are the strict ones of the
# format's description.
#
# Safety: no read and no write is outside of the two buffers, whatever the input is. Most copies move
# 16 or 32 bytes, whatever their size is; the room for them is checked before.
#
# lz4 block: token (4 bits: number of literals, 4 bits: size of the copy - 4; 15 in either is
# followed by bytes to add, up to one that is not 255), literals, u16 distance of the copy; the last
# sequence ends after its literals. Snappy block: varint size of the content; tags, whose two lowest
# bits are the kind: 0 literals, 1 to 3 copies with a distance of 11, 16 or 32 bits. Little-endian.

cdef extern from *:
    """
    #include <string.h>

    #define BARNABAS_REFUSED (-1)
    #define BARNABAS_NO_ROOM (-2)
    /* Bytes that may be read and written after the ones that a short copy is for. */
    #define BARNABAS_SPARE 32

    static inline void barnabas_copy_8(unsigned char *to, const unsigned char *from) {
        memcpy(to, from, 8);
    }

    static inline void barnabas_copy_16(unsigned char *to, const unsigned char *from) {
        memcpy(to, from, 16);
    }

    static inline unsigned int barnabas_le32(const unsigned char *data) {
        return data[0] | data[1] << 8 | data[2] << 16 | (unsigned int)data[3] << 24;
    }

    /* Copies `size` bytes in steps of 16; up to BARNABAS_SPARE bytes more are read and written. */
    static inline void barnabas_copy_in_steps(
        unsigned char *to, const unsigned char *from, Py_ssize_t size
    ) {
        unsigned char *const end = to + size;
        barnabas_copy_16(to, from);
        barnabas_copy_16(to + 16, from + 16);
        for (to += 32, from += 32; to < end; to += 16, from += 16) barnabas_copy_16(to, from);
    }

    /* Copies literals; `left` bytes can be read and `room` bytes written. */
    static inline void barnabas_copy(
        unsigned char *to, const unsigned char *from, Py_ssize_t size,
        Py_ssize_t left, Py_ssize_t room
    ) {
        if (size + BARNABAS_SPARE <= left && size + BARNABAS_SPARE <= room)
            barnabas_copy_in_steps(to, from, size);
        else
            memcpy(to, from, size);
    }

    /* Repeats the `distance` bytes before `to` until `size` of `room` bytes are written. */
    static inline void barnabas_repeat(
        unsigned char *to, Py_ssize_t distance, Py_ssize_t size, Py_ssize_t room
    ) {
        /* The least multiple of a distance below 8 that is 8 or more. */
        static const unsigned char steps[8] = { 0, 8, 8, 9, 8, 10, 12, 14 };
        const Py_ssize_t in_steps = room - size >= BARNABAS_SPARE ? size : size - BARNABAS_SPARE;
        Py_ssize_t done = 0, step = distance;
        if (distance >= 16 && in_steps > 0) {
            barnabas_copy_in_steps(to, to - distance, in_steps);
            done = in_steps;
        } else if (in_steps > 0) {
            if (distance < 8) {
                for (; done < 8; done++) to[done] = to[done - distance];
                step = steps[distance];
            }
            for (; done < in_steps; done += 8) barnabas_copy_8(to + done, to + done - step);
            done = in_steps;
        }
        for (; done < size; done++) to[done] = to[done - distance];
    }

    /* -- lz4 ------------------------------------------------------------------------------- */

    /* Reads the bytes to add to a length; returns NULL if the input ends. */
    static const unsigned char *barnabas_lz4_length(
        const unsigned char *in, const unsigned char *in_end, Py_ssize_t *length
    ) {
        unsigned char byte;
        do {
            if (in == in_end) return NULL;
            byte = *in++;
            *length += byte;
        } while (byte == 255);
        return in;
    }

    /* Returns the size of the content. Copies may refer to `history` bytes before `out`. */
    static Py_ssize_t barnabas_lz4_block(
        const unsigned char *in, Py_ssize_t size,
        unsigned char *const out, Py_ssize_t room, Py_ssize_t history
    ) {
        const unsigned char *const in_end = in + size;
        const unsigned char *const lowest = out - history;
        unsigned char *to = out, *const out_end = out + room, *last_copy = NULL;
        while (in < in_end) {
            const unsigned int token = *in++;
            Py_ssize_t length = token >> 4;
            if (length < 15 && in_end - in >= BARNABAS_SPARE && out_end - to >= BARNABAS_SPARE) {
                barnabas_copy_16(to, in);
            } else {
                if (length == 15 && !(in = barnabas_lz4_length(in, in_end, &length)))
                    return BARNABAS_REFUSED;
                if (length > in_end - in) return BARNABAS_REFUSED;
                if (length > out_end - to) return BARNABAS_NO_ROOM;
                if (length == in_end - in) {
                    memcpy(to, in, length);
                    to += length;
                    if (last_copy && (length < 5 || to - last_copy < 12)) return BARNABAS_REFUSED;
                    return to - out;
                }
                /* A distance, a token, and at least five literals. */
                if (in_end - in - length < 8) return BARNABAS_REFUSED;
                barnabas_copy(to, in, length, in_end - in, out_end - to);
            }
            to += length;
            in += length;
            const Py_ssize_t distance = in[0] | in[1] << 8;
            in += 2;
            if (distance == 0 || distance > to - lowest) return BARNABAS_REFUSED;
            length = token & 15;
            if (length == 15 && !(in = barnabas_lz4_length(in, in_end, &length)))
                return BARNABAS_REFUSED;
            length += 4;
            if (length > out_end - to) return BARNABAS_NO_ROOM;
            barnabas_repeat(to, distance, length, out_end - to);
            last_copy = to;
            to += length;
        }
        return BARNABAS_REFUSED;
    }

    static inline unsigned int barnabas_rotated(unsigned int value, int bits) {
        return value << bits | value >> (32 - bits);
    }

    /* The XXH32 hash of less than 16 bytes, with the seed 0. */
    static unsigned int barnabas_xxh32(const unsigned char *data, Py_ssize_t size) {
        unsigned int value = 0x165667B1u + (unsigned int)size;
        for (; size >= 4; data += 4, size -= 4)
            value = barnabas_rotated(value + barnabas_le32(data) * 0xC2B2AE3Du, 17) * 0x27D4EB2Fu;
        for (; size > 0; data++, size--)
            value = barnabas_rotated(value + *data * 0x165667B1u, 11) * 0x9E3779B1u;
        value = (value ^ value >> 15) * 0x85EBCA77u;
        value = (value ^ value >> 13) * 0xC2B2AE3Du;
        return value ^ value >> 16;
    }

    /* Returns the size of the frame's header; REFUSED if the frame decoder must read the frame. */
    static Py_ssize_t barnabas_lz4_header(const unsigned char *in, Py_ssize_t size) {
        if (size < 15 || barnabas_le32(in) != 0x184D2204u) return BARNABAS_REFUSED;
        /* Version 1; independent or linked blocks; content size or not; no checksums. */
        if ((in[4] & ~0x28) != 0x40 || (in[5] & ~0x30) != 0x40) return BARNABAS_REFUSED;
        const Py_ssize_t head = in[4] & 0x08 ? 15 : 7;
        const unsigned int hash = barnabas_xxh32(in + 4, head - 5);
        return in[head - 1] == (hash >> 8 & 0xFF) ? head : BARNABAS_REFUSED;
    }

    /* Returns the content size that the header declares; 0 if it is unknown. */
    static unsigned long long barnabas_lz4_declared(const unsigned char *in) {
        if (!(in[4] & 0x08)) return 0;
        return barnabas_le32(in + 6) | (unsigned long long)barnabas_le32(in + 10) << 32;
    }

    static Py_ssize_t barnabas_lz4_frame(
        const unsigned char *const in, Py_ssize_t size, unsigned char *out, Py_ssize_t room
    ) {
        Py_ssize_t at = barnabas_lz4_header(in, size), done = 0;
        if (at < 0) return BARNABAS_REFUSED;
        const Py_ssize_t max_block = (Py_ssize_t)1 << (8 + 2 * (in[5] >> 4));
        while (size - at >= 4) {
            const unsigned int head = barnabas_le32(in + at);
            const Py_ssize_t packed = head & 0x7FFFFFFF;
            at += 4;
            if (packed == 0) {
                const unsigned long long declared = barnabas_lz4_declared(in);
                const int whole = declared == 0 || declared == (unsigned long long)done;
                return head == 0 && at == size && whole ? done : BARNABAS_REFUSED;
            }
            if (packed > size - at || packed > max_block) return BARNABAS_REFUSED;
            const Py_ssize_t most = room - done < max_block ? room - done : max_block;
            Py_ssize_t count = packed <= most ? packed : BARNABAS_NO_ROOM;
            if (!(head >> 31))
                count = barnabas_lz4_block(
                    in + at, packed, out + done, most, in[4] & 0x20 ? 0 : done
                );
            else if (count >= 0)
                memcpy(out + done, in + at, packed);
            if (count == BARNABAS_NO_ROOM && most == max_block) return BARNABAS_REFUSED;
            if (count < 0) return count;
            done += count;
            at += packed;
        }
        return BARNABAS_REFUSED;
    }

    /* -- snappy ---------------------------------------------------------------------------- */

    /* Reads the content size at the start of a block; returns the size of the number, 0 if it is
       invalid or 2 GiB and more. */
    static int barnabas_snappy_declared(
        const unsigned char *in, Py_ssize_t size, Py_ssize_t *declared
    ) {
        unsigned long long value = 0;
        for (int at = 0; at < 5 && at < size; at++) {
            value |= (unsigned long long)(in[at] & 0x7F) << 7 * at;
            if (in[at] < 0x80) {
                *declared = (Py_ssize_t)value;
                return value >> 31 ? 0 : at + 1;
            }
        }
        return 0;
    }

    static Py_ssize_t barnabas_snappy_block(
        const unsigned char *in, Py_ssize_t size, unsigned char *const out, Py_ssize_t room
    ) {
        static const unsigned int masks[4] = { 0, 0xFF, 0xFFFF, 0xFFFFFFFF };
        static const unsigned char widths[4] = { 0, 1, 2, 4 };
        Py_ssize_t declared = 0;
        const int head = barnabas_snappy_declared(in, size, &declared);
        if (head == 0) return BARNABAS_REFUSED;
        if (declared > room) return BARNABAS_NO_ROOM;
        const unsigned char *const in_end = in + size;
        unsigned char *to = out, *const out_end = out + declared;
        in += head;
        while (in < in_end) {
            const unsigned int tag = *in++, kind = tag & 3;
            Py_ssize_t length = (tag >> 2) + 1;
            if (kind == 0) {
                if (length <= 16 && in_end - in >= 16 && out_end - to >= 16) {
                    barnabas_copy_16(to, in);
                } else {
                    if (length > 60) {
                        const Py_ssize_t width = length - 60;
                        if (width > in_end - in) return BARNABAS_REFUSED;
                        length = 1;
                        for (Py_ssize_t at = 0; at < width; at++)
                            length += (Py_ssize_t)in[at] << 8 * at;
                        in += width;
                    }
                    if (length > in_end - in || length > out_end - to) return BARNABAS_REFUSED;
                    barnabas_copy(to, in, length, in_end - in, out_end - to);
                }
                in += length;
                to += length;
                continue;
            }
            if (widths[kind] > in_end - in) return BARNABAS_REFUSED;
            unsigned int word;
            if (in_end - in >= 4) {
                word = barnabas_le32(in) & masks[kind];
            } else {
                word = in[0];
                if (kind == 2) word |= in[1] << 8;
            }
            in += widths[kind];
            Py_ssize_t distance = word;
            if (kind == 1) {
                distance |= (tag >> 5) << 8;
                length = 4 + (tag >> 2 & 7);
            }
            if (distance == 0 || distance > to - out || length > out_end - to)
                return BARNABAS_REFUSED;
            barnabas_repeat(to, distance, length, out_end - to);
            to += length;
        }
        return to == out_end ? declared : BARNABAS_REFUSED;
    }

    static unsigned int barnabas_be32(const unsigned char *data) {
        return (unsigned int)data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3];
    }

    /* Passes each block of the section to barnabas_snappy_block, or, without `out`, only adds up
       the sizes that they declare. */
    static Py_ssize_t barnabas_snappy_blocks(
        const unsigned char *in, Py_ssize_t size, unsigned char *out, Py_ssize_t room
    ) {
        static const unsigned char magic[8] = { 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0 };
        const int framed = size >= 8 && memcmp(in, magic, 8) == 0;
        Py_ssize_t done = 0, at = framed ? 16 : 0;
        do {
            Py_ssize_t packed = size, count = 0;
            if (framed) {
                if (size - at < 4) return BARNABAS_REFUSED;
                packed = barnabas_be32(in + at);
                at += 4;
                if (packed == 0 || packed > size - at) return BARNABAS_REFUSED;
            }
            if (out)
                count = barnabas_snappy_block(in + at, packed, out + done, room - done);
            else if (!barnabas_snappy_declared(in + at, packed, &count))
                return BARNABAS_REFUSED;
            if (count < 0) return count;
            done += count;
            at += packed;
        } while (at < size);
        return done;
    }

    /* -- Sections of batches --------------------------------------------------------------- */

    static Py_ssize_t barnabas_declared_size(
        int codec, const unsigned char *in, Py_ssize_t size
    ) {
        if (codec == 2) return barnabas_snappy_blocks(in, size, NULL, 0);
        if (codec != 3 || barnabas_lz4_header(in, size) < 0) return BARNABAS_REFUSED;
        const unsigned long long declared = barnabas_lz4_declared(in);
        return declared >> 62 ? BARNABAS_REFUSED : (Py_ssize_t)declared;
    }

    static Py_ssize_t barnabas_expand_section(
        int codec, const unsigned char *in, Py_ssize_t size, unsigned char *out, Py_ssize_t room
    ) {
        if (codec == 2) return barnabas_snappy_blocks(in, size, out, room);
        return codec == 3 ? barnabas_lz4_frame(in, size, out, room) : BARNABAS_REFUSED;
    }
    """
    enum:
        SECTION_REFUSED "BARNABAS_REFUSED"
        # The content is larger than the output, which has undefined bytes now.
        SECTION_NO_ROOM "BARNABAS_NO_ROOM"

    # The content size that the records section of a batch declares; 0 if it is unknown. It may be
    # wrong. Negative if `expand_section` would not accept the section.
    Py_ssize_t declared_size "barnabas_declared_size"(
        int codec, const unsigned char* data, Py_ssize_t size
    ) nogil
    # Decompresses to `out`, which has `room` bytes; returns the size of the content.
    Py_ssize_t expand_section "barnabas_expand_section"(
        int codec, const unsigned char* data, Py_ssize_t size, unsigned char* out, Py_ssize_t room
    ) nogil
