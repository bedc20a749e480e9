# C layout of the state that a connection changes with each request.

from barnabas.runtime._histogram_hot cimport Histogram as SendTime

cdef class Progress:
    cdef public long long last_ms
    cdef public long long _since_ms
    cdef public long long _bytes

cdef class OutputState:
    cdef public long long unsent_bytes
    cdef public long long queued_bytes

cdef class ReaderState:
    cdef public object _data
    cdef public object _frame
    cdef public object _leftover
    cdef public object _now_ms
    cdef public object _recv_into
    cdef public object _scratch
    cdef public bytearray _scratch_bytes
    cdef public bint _saw_large
    cdef public bint stalled
    cdef public long long max_frame_bytes

cdef class ConnectionState:
    cdef public ReaderState _reader
    cdef public Progress _progress
    cdef public OutputState _output
    cdef public object _replies
    cdef public object _pending
    cdef public object _handler
    cdef public object _short
    cdef public object _send_bytes
    cdef public int _fd
    cdef public bint _paused
    cdef public bint _closing
    cdef public bint _writing
    cdef public bint closed
    cdef public long long frames_received
    cdef public long long received_ns
    cdef public SendTime send_time
