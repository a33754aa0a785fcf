#include "preload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi_lite.h"

namespace nmb::preload {

namespace {

const pnetcdf::Part* part = nullptr;

// --- PnetCDF ---

int note_pnetcdf(dl_phdr_info* object, std::size_t, void* found) {
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const name = slash ? slash + 1 : object->dlpi_name;
  if (std::strncmp(name, "libpnetcdf", 10) != 0) return 0;
  *static_cast<const char**>(found) = object->dlpi_name;
  return 1;
}

// Tells nmb-run that a call was caught. Only those that create and open files count, because
// PnetCDF calls others itself.
void count_process() {
  const char* const path = std::getenv("NMB_RUN_TALLY");
  if (path == nullptr) return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  if (::write(file, "caught\n", 7) != 7)
    std::fputs("nmb-pnetcdf: cannot write the tally\n", stderr);
  ::close(file);
}

void note_first_call() {
  static bool counted = false;
  if (!counted) count_process();
  counted = true;
}

// --- our part ---

// Writes the folder of this library to `path`.
bool own_folder(char* path) {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return false;
  if (realpath(info.dli_fname, path) == nullptr) return false;
  char* const slash = std::strrchr(path, '/');
  if (slash == nullptr) return false;
  *slash = '\0';
  return true;
}

Function real_of(int number) { return of_pnetcdf(number); }

const pnetcdf::Part* load_part() {
  if (part != nullptr) return part;
  const Mpi mpi = loaded_mpi();
  if (mpi == Mpi::kNone) {
    std::fputs(
        "nmb-pnetcdf: found no Open MPI or MPICH in this process; other MPI libraries are not "
        "supported\n",
        stderr);
    return nullptr;
  }
  const char* const name = mpi == Mpi::kOpenMpi ? "nmb-pnetcdf-openmpi.so" : "nmb-pnetcdf-mpich.so";
  char folder[PATH_MAX];
  if (!own_folder(folder)) return nullptr;
  char path[PATH_MAX + 64];
  std::snprintf(path, sizeof path, "%s/nmb/%s", folder, name);
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::fprintf(stderr, "nmb-pnetcdf: cannot load the part for this MPI library: %s\n", dlerror());
    return nullptr;
  }
  const auto* const found = static_cast<const pnetcdf::Part*>(dlsym(handle, "nmb_pnetcdf_part"));
  if (found == nullptr || found->version != kTableVersion || found->count != kFunctions) {
    std::fprintf(stderr, "nmb-pnetcdf: %s is of another build than this library\n", path);
    return nullptr;
  }
  found->start(&real_of);
  return part = found;
}

// --- which files are ours ---

bool ends_in(const char* text, const char* end) {
  const std::size_t length = std::strlen(text), tail = std::strlen(end);
  return length >= tail && std::strcmp(text + length - tail, end) == 0;
}

// Patterns match the path as the program gives it, the name of the file and the absolute path.
bool matches_environment(const char* path) {
  const char* rest = std::getenv("NMB_PNETCDF");
  if (rest == nullptr) return false;
  const char* const slash = std::strrchr(path, '/');
  char glob[PATH_MAX], absolute[2 * PATH_MAX];
  if (*path == '/' || getcwd(absolute, PATH_MAX) == nullptr) {
    absolute[0] = '\0';
  } else {
    const std::size_t length = std::strlen(absolute);
    std::snprintf(absolute + length, sizeof absolute - length, "/%s", path);
  }
  while (*rest != '\0') {
    const std::size_t length = std::strcspn(rest, ":");
    if (length > 0 && length < sizeof glob) {
      std::memcpy(glob, rest, length);
      glob[length] = '\0';
      if (fnmatch(glob, path, 0) == 0 || (slash && fnmatch(glob, slash + 1, 0) == 0) ||
          fnmatch(glob, absolute, 0) == 0)
        return true;
    }
    rest += length;
    if (*rest == ':') ++rest;
  }
  return false;
}

bool is_chosen(const char* path, void* info) {
  if (path == nullptr) return false;
  const char* const name = nmb::pnetcdf::without_prefix(path);
  char value[32] = "";
  hint_of(info, "nmb", value, sizeof value);
  std::string_view hint = value;
  nmb::pnetcdf::for_each_hint([&](std::string_view key, std::string_view given) {
    if (key == "nmb") hint = given;
  });
  if (hint == "on") return true;
  if (hint == "off") return false;
  return ends_in(name, ".nmb") || matches_environment(name);
}

// Returns whether a file has the magic of NMB: at its beginning or, if it begins with an HDF5 view,
// at byte 512 (spec/format.md, section 4).
bool has_content(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  static const unsigned char kNmb[] = {0x89, 'N', 'M', 'B'}, kHdf5[] = {0x89, 'H', 'D', 'F'};
  const auto has = [&](const unsigned char(&magic)[4], off_t at) {
    unsigned char bytes[4];
    return ::pread(file, bytes, sizeof bytes, at) == sizeof bytes &&
           std::memcmp(bytes, magic, sizeof bytes) == 0;
  };
  const bool found = has(kNmb, 0) || (has(kHdf5, 0) && has(kNmb, 512));
  ::close(file);
  return found;
}

// Returns whether a file of this content is ours: FILE, or FILE#BLOCK where no file has this name.
bool is_nmb(const char* path) {
  if (path == nullptr) return false;
  const char* const name = nmb::pnetcdf::without_prefix(path);
  if (::access(name, F_OK) == 0) return has_content(name);
  const char* const hash = std::strchr(name, '#');
  if (hash == nullptr || hash - name >= PATH_MAX) return false;
  char file[PATH_MAX];
  std::memcpy(file, name, static_cast<std::size_t>(hash - name));
  file[hash - name] = '\0';
  return has_content(file);
}

// Copies a text of Fortran without the blanks at its end. Returns false if it is too long for a
// path.
bool trim(const char* text, std::size_t length, char* to) {
  while (length > 0 && text[length - 1] == ' ') --length;
  if (length >= PATH_MAX) return false;
  std::memcpy(to, text, length);
  to[length] = '\0';
  return true;
}

using Open = int (*)(void*, const char*, int, void*, int*);

int open_or_create(int number, bool ours, void* communicator, const char* path, int mode,
                   void* info, int* file) {
  if (ours) {
    const pnetcdf::Part* const loaded = load_part();
    if (loaded == nullptr) return kMissing;
    return reinterpret_cast<Open>(loaded->functions[number])(communicator, path, mode, info, file);
  }
  const auto call = reinterpret_cast<Open>(of_pnetcdf(number));
  return call ? call(communicator, path, mode, info, file) : kMissing;
}

// Calls a function of nmb_pnetcdf.h. The part is loaded if the ID is that of one of our files.
template <class... Arguments>
int call_extra(const char* name, int file, Arguments... arguments) {
  constexpr int kBadId = -33;
  if (part == nullptr || !pnetcdf::is_ours(file)) return kBadId;
  return reinterpret_cast<int (*)(int, Arguments...)>(part->extra(name))(file, arguments...);
}

}  // namespace

Function find_real(int number) {
  static void* handle = nullptr;
  void* found = dlsym(RTLD_NEXT, kNames[number]);
  if (found == nullptr) {
    // Programs such as Python load PnetCDF so that only one library sees it.
    const char* path = nullptr;
    if (handle == nullptr) dl_iterate_phdr(note_pnetcdf, &path);
    if (path != nullptr) handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) found = dlsym(handle, kNames[number]);
  }
  if (found == nullptr) {
    std::fprintf(stderr, "nmb-pnetcdf: this process has no %s; is libpnetcdf loaded?\n",
                 kNames[number]);
    return nullptr;
  }
  return real_functions[number] = reinterpret_cast<Function>(found);
}

Function of_part(int number) {
  if (part == nullptr) return of_pnetcdf(number);
  return part->functions[number];
}

}  // namespace nmb::preload

using namespace nmb::preload;

extern "C" {

NMB_ENTRY int ncmpi_create(void* communicator, const char* path, int mode, void* info, int* file) {
  note_first_call();
  const int ours = of_first_rank(communicator, is_chosen(path, info) ? 1 : 0);
  return open_or_create(kNumbers.create, ours != 0, communicator, path, mode, info, file);
}

NMB_ENTRY int ncmpi_open(void* communicator, const char* path, int mode, void* info, int* file) {
  note_first_call();
  // Only rank 0 looks at the file, as PnetCDF does.
  const int ours = of_first_rank(communicator, rank_in(communicator) == 0 && is_nmb(path) ? 1 : 0);
  return open_or_create(kNumbers.open, ours != 0, communicator, path, mode, info, file);
}

NMB_ENTRY int ncmpi_inq_file_format(const char* path, int* format) {
  using F = int (*)(const char*, int*);
  if (is_nmb(path)) {
    const nmb::pnetcdf::Part* const loaded = load_part();
    return loaded ? reinterpret_cast<F>(loaded->functions[kNumbers.inq_file_format])(path, format)
                  : kMissing;
  }
  const auto call = reinterpret_cast<F>(of_pnetcdf(kNumbers.inq_file_format));
  return call ? call(path, format) : kMissing;
}

NMB_ENTRY int ncmpi_inq_files_opened(int* number, int* files) {
  using F = int (*)(int*, int*);
  const auto call = reinterpret_cast<F>(of_pnetcdf(kNumbers.inq_files_opened));
  if (call == nullptr) return kMissing;
  if (const int failed = call(number, files); failed != 0 || part == nullptr) return failed;
  int ours = 0;
  reinterpret_cast<F>(part->functions[kNumbers.inq_files_opened])(
      &ours, files ? files + *number : nullptr);
  *number += ours;
  return 0;
}

NMB_ENTRY int ncmpi_copy_att(int from, int variable, const char* name, int to, int other) {
  using F = int (*)(int, int, const char*, int, int);
  const bool ours = nmb::pnetcdf::is_ours(from) || nmb::pnetcdf::is_ours(to);
  const auto call =
      reinterpret_cast<F>(ours ? of_part(kNumbers.copy_att) : of_pnetcdf(kNumbers.copy_att));
  return call ? call(from, variable, name, to, other) : kMissing;
}

// --- the same for Fortran-77; the lengths of texts follow the other arguments ---

NMB_ENTRY int nfmpi_create_(const int* communicator, const char* path, const int* mode,
                            const int* info, int* file, std::size_t length) {
  char text[PATH_MAX];
  return trim(path, length, text)
             ? ncmpi_create(communicator_of(*communicator), text, *mode, info_of(*info), file)
             : kBadFile;
}

NMB_ENTRY int nfmpi_open_(const int* communicator, const char* path, const int* mode,
                          const int* info, int* file, std::size_t length) {
  char text[PATH_MAX];
  return trim(path, length, text)
             ? ncmpi_open(communicator_of(*communicator), text, *mode, info_of(*info), file)
             : kBadFile;
}

NMB_ENTRY int nfmpi_inq_file_format_(const char* path, int* format, std::size_t length) {
  char text[PATH_MAX];
  return trim(path, length, text) ? ncmpi_inq_file_format(text, format) : kBadFile;
}

NMB_ENTRY int nfmpi_inq_files_opened_(int* number, int* files) {
  return ncmpi_inq_files_opened(number, files);
}

NMB_ENTRY int nfmpi_copy_att_(const int* from, const int* variable, const char* name, const int* to,
                              const int* other, std::size_t length) {
  char text[PATH_MAX];
  return trim(name, length, text) ? ncmpi_copy_att(*from, *variable - 1, text, *to, *other - 1)
                                  : kBadFile;
}

// --- nmb_pnetcdf.h ---

NMB_ENTRY int nmb_pnetcdf_def_block(int file, const char* name, int* block) {
  return call_extra("def_block", file, name, block);
}
NMB_ENTRY int nmb_pnetcdf_open_block(int file, const char* name, int* block) {
  return call_extra("open_block", file, name, block);
}
NMB_ENTRY int nmb_pnetcdf_inq_global_ids(int file, int* dims, int* variables) {
  return call_extra("inq_global_ids", file, dims, variables);
}
NMB_ENTRY int nmb_pnetcdf_inq_nblocks(int file, long long* number) {
  return call_extra("inq_nblocks", file, number);
}
NMB_ENTRY int nmb_pnetcdf_inq_blockname(int file, long long position, char* name,
                                        std::size_t size) {
  return call_extra("inq_blockname", file, position, name, size);
}
NMB_ENTRY const char* nmb_pnetcdf_message() {
  return part ? reinterpret_cast<const char* (*)()>(part->extra("message"))() : "";
}
}
