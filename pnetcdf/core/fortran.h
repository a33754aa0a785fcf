// Conversions for the functions of Fortran-77, which generate.py writes. Fortran pads texts with
// blanks, counts IDs from 1, and lists dimensions in the other order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace nmb::pnetcdf {

// An argument that C gets as any pointer.
class AnyPointer {
 public:
  explicit AnyPointer(void* pointer) : pointer_(pointer) {}
  template <class T>
  operator T*() const {
    return static_cast<T*>(pointer_);
  }

 private:
  void* pointer_;
};
inline AnyPointer any(void* pointer) { return AnyPointer(pointer); }

// Returns a text without the blanks at its end.
std::string fortran_text(const char* text, std::size_t length);

// A text that a call of C writes, and that Fortran gets with blanks up to its length.
class FortranResult {
 public:
  FortranResult(char* to, std::size_t length) : to_(to), length_(length), room_(kRoom) {}
  char* room() { return room_.data(); }
  // Gives the text, cut to its length, if the call has succeeded.
  void give(int code);

 private:
  static constexpr std::size_t kRoom = 8192;  // more than a path or a name
  char* to_;
  std::size_t length_;
  std::vector<char> room_;
};

// Returns the dimensions of a new variable in the order of C.
std::vector<int> fortran_dims(const int* ids, int count);
// Returns the C datatype for a datatype of Fortran.
MPI_Datatype fortran_type(int type);

// The positions of an access, in the order of C. Arrays live as long as this object.
class FortranSlab {
 public:
  FortranSlab(int file, int variable);
  int failed() const { return failed_; }
  std::size_t rank() const { return rank_; }
  const MPI_Offset* start(const MPI_Offset* from) { return turned(from, 1); }
  const MPI_Offset* plain(const MPI_Offset* from) { return turned(from, 0); }
  MPI_Offset* const* starts(const MPI_Offset* from, int number) {
    return all_turned(from, number, 1);
  }
  MPI_Offset* const* counts(const MPI_Offset* from, int number) {
    return all_turned(from, number, 0);
  }
  void give_dims(const std::vector<int>& ids, int* to) const;

 private:
  MPI_Offset* turned(const MPI_Offset* from, MPI_Offset less);
  MPI_Offset* const* all_turned(const MPI_Offset* from, int number, MPI_Offset less);

  int failed_ = 0;
  std::size_t rank_ = 0;
  std::deque<std::vector<MPI_Offset>> arrays_;
  std::deque<std::vector<MPI_Offset*>> lists_;
};

}  // namespace nmb::pnetcdf
