#include "fortran.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "calls.h"

namespace nmb::pnetcdf {

std::string fortran_text(const char* text, std::size_t length) {
  while (length > 1 && text[length - 1] == ' ') --length;
  return std::string(text, length);
}

void FortranResult::give(int code) {
  if (code != code::kOk) return;
  const std::string_view text(room_.data());
  const std::size_t kept = std::min(text.size(), length_);
  std::memcpy(to_, text.data(), kept);
  std::memset(to_ + kept, ' ', length_ - kept);
}

std::vector<int> fortran_dims(const int* ids, int count) {
  std::vector<int> all;
  for (int i = count; i-- > 0;) all.push_back(ids[i] - 1);
  return all;
}

MPI_Datatype fortran_type(int type) {
  const MPI_Datatype given = MPI_Type_f2c(type);
  if (given == MPI_CHARACTER) return MPI_CHAR;
  if (given == MPI_INTEGER) return MPI_INT;
  if (given == MPI_REAL) return MPI_FLOAT;
  if (given == MPI_DOUBLE_PRECISION) return MPI_DOUBLE;
  if (given == MPI_DATATYPE_NULL) return given;
  if (given == MPI_INTEGER1) return MPI_SIGNED_CHAR;
  if (given == MPI_INTEGER2) return MPI_SHORT;
  if (given == MPI_INTEGER4) return MPI_INT;
  if (given == MPI_INTEGER8) return MPI_LONG_LONG_INT;
  return given;
}

FortranSlab::FortranSlab(int file, int variable) {
  int rank = 0;
  failed_ = call_inq_varndims(file, variable, &rank);
  if (failed_ == code::kOk) rank_ = static_cast<std::size_t>(rank);
}

MPI_Offset* FortranSlab::turned(const MPI_Offset* from, MPI_Offset less) {
  // One element more, so that a scalar has an address too.
  std::vector<MPI_Offset>& array = arrays_.emplace_back(rank_ + 1);
  for (std::size_t i = 0; i < rank_; ++i) array[i] = from[rank_ - 1 - i] - less;
  return array.data();
}

MPI_Offset* const* FortranSlab::all_turned(const MPI_Offset* from, int number, MPI_Offset less) {
  std::vector<MPI_Offset*>& list = lists_.emplace_back();
  for (int i = 0; i < number; ++i)
    list.push_back(turned(from + static_cast<std::size_t>(i) * rank_, less));
  list.push_back(nullptr);
  return list.data();
}

void FortranSlab::give_dims(const std::vector<int>& ids, int* to) const {
  for (std::size_t i = 0; i < rank_; ++i) to[i] = ids[rank_ - 1 - i] + 1;
}

}  // namespace nmb::pnetcdf
