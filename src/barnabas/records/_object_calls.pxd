# Functions of Python.h that Cython does not declare.

cdef extern from "Python.h":
    # The garbage collector does not visit the object any more.
    void PyObject_GC_UnTrack(object)
