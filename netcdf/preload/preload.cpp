// The library that nmb-run preloads: before a program opens its first file by netCDF-C, registers
// NMB files with the netCDF library that the program uses. It is loaded into every process below
// nmb-run, so it needs nothing but libc; libnmb-netcdf is loaded when the first file is opened
// whose first bytes are those of an NMB file.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NMB_ENTRY extern "C" [[gnu::visibility("default")]]

namespace {

constexpr int kNotBuilt = -128;  // NC_ENOTBUILT
constexpr char kMagic[] = "\211NMB\r\n\032\n";

using Register = int (*)(const void* caller);

bool is_nmb(const char* path) {
  if (path == nullptr) return false;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  char head[sizeof kMagic - 1];
  const bool is = ::pread(file, head, sizeof head, 0) == static_cast<ssize_t>(sizeof head) &&
                  memcmp(head, kMagic, sizeof head) == 0;
  ::close(file);
  return is;
}

// The library lies beside this one.
Register load() {
  Dl_info self;
  if (::dladdr(reinterpret_cast<const void*>(&is_nmb), &self) == 0) return nullptr;
  const char* const slash = strrchr(self.dli_fname, '/');
  char path[PATH_MAX];
  const int length =
      snprintf(path, sizeof path, "%.*s/../libnmb-netcdf.so",
               slash ? static_cast<int>(slash - self.dli_fname) : 1, slash ? self.dli_fname : ".");
  if (length < 0 || static_cast<size_t>(length) >= sizeof path) return nullptr;
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "nmb-run: %s\n", ::dlerror());
    return nullptr;
  }
  return reinterpret_cast<Register>(::dlsym(library, "nmb_netcdf_register_for"));
}

// Finds the function of the netCDF library that the caller uses. An interpreter loads its modules
// so that others do not see their names; the module itself sees netCDF's.
void* find_next(const char* name, const void* caller, const void* own) {
  Dl_info object;
  void* found = nullptr;
  if (::dladdr(caller, &object) != 0 && object.dli_fname != nullptr) {
    void* const handle = ::dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) {
      found = ::dlsym(handle, name);
      ::dlclose(handle);
    }
  }
  return found == nullptr || found == own ? ::dlsym(RTLD_NEXT, name) : found;
}

// Tells nmb-run that a call was caught.
void count_process() {
  static bool counted = false;
  const char* const path = getenv("NMB_RUN_TALLY");
  if (counted || path == nullptr) return;
  counted = true;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  if (::write(file, "caught\n", 7) != 7) fputs("nmb-run: cannot write the tally\n", stderr);
  ::close(file);
}

void prepare(const char* path, void* netcdf_function) {
  count_process();
  if (!is_nmb(path)) return;
  static const Register register_for = load();
  if (register_for != nullptr && register_for(netcdf_function) != 0)
    fprintf(stderr,
            "nmb-run: %s: the netCDF library of this program takes no user-defined format\n", path);
}

}  // namespace

#define NMB_OPEN(name, parameters, path, arguments)                                          \
  NMB_ENTRY int name parameters {                                                            \
    void* const real =                                                                       \
        find_next(#name, __builtin_return_address(0), reinterpret_cast<const void*>(&name)); \
    if (real == nullptr) return kNotBuilt;                                                   \
    prepare(path, real);                                                                     \
    return reinterpret_cast<int(*) parameters>(real) arguments;                              \
  }

// The communicator and the information of nc_open_par() are pointers or integers, as the MPI
// library has them; both fit in a register.
NMB_OPEN(nc_open, (const char* path, int mode, int* ncid), path, (path, mode, ncid))
NMB_OPEN(nc__open, (const char* path, int mode, size_t* hint, int* ncid), path,
         (path, mode, hint, ncid))
NMB_OPEN(nc_open_par, (const char* path, int mode, void* communicator, void* info, int* ncid), path,
         (path, mode, communicator, info, ncid))
NMB_OPEN(nc_open_par_fortran, (const char* path, int mode, int communicator, int info, int* ncid),
         path, (path, mode, communicator, info, ncid))
