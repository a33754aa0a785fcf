#include "mpi_lite.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace nmb::preload {

namespace {

// Constants of MPICH's ABI, which are numbers. Those of Open MPI are addresses of objects.
constexpr std::uint32_t kMpichInt = 0x4c000405, kMpichInfoNull = 0x1c000000;

void* mpi_handle = nullptr;

// Finds a library of MPI that is loaded, also one that only a library of a plug-in sees.
int note_library(dl_phdr_info* object, std::size_t, void* found) {
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const name = slash ? slash + 1 : object->dlpi_name;
  if (std::strncmp(name, "libmpi.so", 9) != 0 && std::strncmp(name, "libmpich.so", 11) != 0)
    return 0;
  *static_cast<const char**>(found) = object->dlpi_name;
  return 1;
}

void* symbol(const char* name) {
  if (void* const global = dlsym(RTLD_DEFAULT, name)) return global;
  if (mpi_handle == nullptr) {
    const char* path = nullptr;
    dl_iterate_phdr(note_library, &path);
    if (path != nullptr) mpi_handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  }
  return mpi_handle ? dlsym(mpi_handle, name) : nullptr;
}

template <class F>
F function(const char* name) {
  return reinterpret_cast<F>(symbol(name));
}

void* int_type() {
  if (loaded_mpi() == Mpi::kOpenMpi) return symbol("ompi_mpi_int");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(kMpichInt));
}

}  // namespace

Mpi loaded_mpi() {
  static Mpi known = Mpi::kNone;
  if (known != Mpi::kNone) return known;
  if (symbol("ompi_mpi_comm_world") != nullptr)
    known = Mpi::kOpenMpi;
  else if (const auto version = function<int (*)(char*, int*)>("MPI_Get_library_version")) {
    static char text[16384];  // MPI_MAX_LIBRARY_VERSION_STRING is 8192 in MPICH
    int length = 0;
    version(text, &length);
    if (std::strncmp(text, "MPICH", 5) == 0) known = Mpi::kMpich;
  }
  return known;
}

int rank_in(void* communicator) {
  int rank = 0;
  if (const auto get = function<int (*)(void*, int*)>("MPI_Comm_rank")) get(communicator, &rank);
  return rank;
}

int of_first_rank(void* communicator, int value) {
  int size = 1;
  const auto size_of = function<int (*)(void*, int*)>("MPI_Comm_size");
  const auto broadcast = function<int (*)(void*, int, void*, int, void*)>("MPI_Bcast");
  if (size_of == nullptr || broadcast == nullptr) return value;
  size_of(communicator, &size);
  if (size > 1) broadcast(&value, 1, int_type(), 0, communicator);
  return value;
}

namespace {

// MPICH's handles are the same numbers in both languages.
void* handle_of(int fortran, const char* conversion) {
  if (loaded_mpi() == Mpi::kOpenMpi)
    if (const auto convert = function<void* (*)(int)>(conversion)) return convert(fortran);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(static_cast<std::uint32_t>(fortran)));
}

}  // namespace

void* communicator_of(int fortran) { return handle_of(fortran, "MPI_Comm_f2c"); }
void* info_of(int fortran) { return handle_of(fortran, "MPI_Info_f2c"); }

bool hint_of(void* info, const char* key, char* value, int size) {
  if (loaded_mpi() == Mpi::kOpenMpi
          ? info == symbol("ompi_mpi_info_null")
          : static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(info)) == kMpichInfoNull)
    return false;
  const auto get = function<int (*)(void*, const char*, int, char*, int*)>("MPI_Info_get");
  int found = 0;
  if (get == nullptr || get(info, key, size - 1, value, &found) != 0) return false;
  return found != 0;
}

}  // namespace nmb::preload
