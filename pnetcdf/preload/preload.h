// The preloaded library libnmb-pnetcdf.so: decides which calls of PnetCDF go to NMB and passes all
// others to PnetCDF. It is loaded into every program that nmb-run starts, so it needs neither MPI
// nor libnmb; both are found when the first file of ours is created or opened.
#pragma once

#include "interface.h"

#define NMB_ENTRY [[gnu::visibility("default")]]

namespace nmb::preload {

using pnetcdf::Function;

// The result of a call for which no PnetCDF is loaded (NC_ENOTENABLED).
inline constexpr int kMissing = -222;
inline constexpr int kBadFile = -223;  // NC_EBAD_FILE

extern const unsigned kTableVersion;
extern const int kFunctions;
extern Function real_functions[];
extern const char* const kNames[];

// Numbers of the functions that preload.cpp writes by hand.
struct Numbers {
  int create, open, inq_file_format, inq_files_opened, copy_att;
};
extern const Numbers kNumbers;

// Returns PnetCDF's function, or nullptr after a message.
Function find_real(int number);
// Returns our function. Only for IDs of our files, which only our part gives out.
Function of_part(int number);

inline Function of_pnetcdf(int number) {
  const Function known = real_functions[number];
  return known ? known : find_real(number);
}

inline Function of_file(int file, int number) {
  return pnetcdf::is_ours(file) ? of_part(number) : of_pnetcdf(number);
}

}  // namespace nmb::preload
