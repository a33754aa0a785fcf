// Finds out which MPI launcher started the process, and loads the plug-in for its MPI library (see
// parallel/communicator.h).
#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "files/plugin_folders.h"
#include "parallel/communicator.h"
#include "parallel/mpi_plugin.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

namespace fs = std::filesystem;

struct LibraryNames {
  std::string_view text;     // name of the library in messages
  std::string_view file;     // file name of the plug-in
  std::string_view version;  // beginning of the text from MPI_Get_library_version()
};

LibraryNames names_of(MpiLibrary library) {
  if (library == MpiLibrary::kOpenMpi) return {"Open MPI", "nmb-mpi-openmpi.so", "Open MPI"};
  return {"MPICH", "nmb-mpi-mpich.so", "MPICH"};
}

// Returns a number from the environment, or 0 if the variable is not set.
int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

// Checks that no other MPI library is loaded, because two MPI libraries in one process would use
// each other's symbols.
Status check_no_other_mpi(const LibraryNames& names) {
  using GetLibraryVersion = int (*)(char*, int*);
  void* const symbol = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
  if (symbol == nullptr) return {};
  std::vector<char> version(16384);  // MPI_MAX_LIBRARY_VERSION_STRING is 256 or 8192 bytes
  int length = 0;
  reinterpret_cast<GetLibraryVersion>(symbol)(version.data(), &length);
  const std::string_view text(version.data());
  if (text.starts_with(names.version)) return {};
  return Status(Code::kUsage,
                joined_text("found ", text.substr(0, text.find_first_of(",\n")),
                            " in this process, expected ", names.text, " or no MPI library"));
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016" PRIx64, number);
  return text.data();
}

// Loads the plug-in. It stays loaded until the process ends, because its MPI library must stay
// loaded.
Result<const MpiPlugin*> load_plugin(const LibraryNames& names) {
  std::string looked;
  for (const fs::path& folder : plugin_folders()) {
    const fs::path file = folder / names.file;
    looked += (looked.empty() ? "" : ", ") + file.string();
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    // Open MPI loads further libraries that use its symbols, so RTLD_GLOBAL is needed.
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr)
      return Status(Code::kUnsupported,
                    joined_text("cannot load the plug-in for ", names.text, ": ", dlerror()));
    const auto* plugin = static_cast<const MpiPlugin*>(dlsym(handle, "nmb_mpi_plugin"));
    if (plugin == nullptr || plugin->build != NMB_TRANSPORT_BUILD) {
      const std::string found =
          plugin == nullptr ? "no plug-in of this library" : "build " + hexadecimal(plugin->build);
      dlclose(handle);
      return Status(Code::kUnsupported, file, kNoOffset, {},
                    "found " + found +
                        ", expected a plug-in from the same build as this library, " +
                        hexadecimal(NMB_TRANSPORT_BUILD));
    }
    return plugin;
  }
  return Status(Code::kUnsupported,
                joined_text("found no plug-in for ", names.text, ", expected ",
                            looked.empty() ? "a folder in NMB_PLUGIN_PATH" : "one of " + looked));
}

}  // namespace

std::optional<MpiLibrary> launched_by() {
  auto is_set = [](const char* variable) { return std::getenv(variable) != nullptr; };
  if (is_set("OMPI_COMM_WORLD_SIZE")) return MpiLibrary::kOpenMpi;
  if (is_set("PMI_RANK") || is_set("PMI_SIZE") || is_set("MPI_LOCALNRANKS"))
    return MpiLibrary::kMpich;
  if (is_set("PMIX_RANK")) return MpiLibrary::kOpenMpi;
  if (number_of("SLURM_STEP_NUM_TASKS") > 1) return MpiLibrary::kMpich;
  return std::nullopt;
}

int launched_ranks() {
  int launched = number_of("OMPI_COMM_WORLD_SIZE");
  if (launched == 0) launched = number_of("PMI_SIZE");
  if (launched == 0) launched = number_of("SLURM_STEP_NUM_TASKS");
  return launched;
}

int launched_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const int rank = number_of(variable); rank > 0) return rank;
  return 0;
}

Result<std::unique_ptr<Transport>> open_mpi_transport(MpiLibrary library, const void* comm) {
  const LibraryNames names = names_of(library);
  NMB_TRY(check_no_other_mpi(names));
  NMB_ASSIGN(const MpiPlugin* const plugin, load_plugin(names));
  NMB_ASSIGN(std::unique_ptr<Transport> transport, plugin->open(comm));
  // An MPI library that does not know the launcher treats each process as a separate job, and all
  // these jobs would write the same file.
  const int launched = launched_ranks();
  if (comm == nullptr && transport->size() == 1 && launched > 1)
    return Status(Code::kUnsupported,
                  joined_text("found 1 rank of ", names.text, ", expected ", launched,
                              " ranks; the launcher belongs to another MPI library"));
  return transport;
}

Result<std::unique_ptr<Communicator>> open_mpi_ranks(MpiLibrary library, const void* comm) {
  NMB_ASSIGN(std::unique_ptr<Transport> transport, open_mpi_transport(library, comm));
  return std::make_unique<Communicator>(std::move(transport));
}

}  // namespace nmb
