// nmb-hdf5: a separate program, which the tools run to use the HDF5 library. It is not meant for
// users, and its commands may change with each version.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "decode/undo_filters.h"
#include "export/hdf5_export.h"
#include "import/hdf5_import.h"
#include "lzf_filter.h"
#include "resource_limits.h"
#include "send_message.h"
#include "serve.h"
#include "server/hdf5_server.h"

namespace {

int number(const char* text) { return static_cast<int>(std::strtol(text, nullptr, 10)); }

// Returns the style that the arguments of the commands `export...` describe.
nmb::hdf5::WriteStyle style_of(char** a) {
  nmb::hdf5::WriteStyle style{number(a[2]), number(a[3]) != 0, number(a[4]) != 0};
  style.threads = static_cast<unsigned>(number(a[6]));
  return style;
}

struct Command {
  std::string_view name;
  int arguments;
  int (*run)(char** arguments);  // returns the exit code
};

constexpr Command kCommands[] = {
    {"export", 7, [](char** a) { return nmb::hdf5::export_file(a[0], a[1], style_of(a), a[5]); }},
    // Works like `export`, but INPUT is a temporary NMB file whose values are in other files.
    {"export-linked", 8,
     [](char** a) {
       return nmb::hdf5::export_file(a[0], a[1], style_of(a), a[5], nmb::hdf5::LinkedInput{a[7]});
     }},
    {"relayout", 3,
     [](char** a) {
       return nmb::hdf5::relayout_file(a[0], a[1], static_cast<unsigned>(number(a[2])));
     }},
    {"import", 3,
     [](char** a) {
       nmb::hdf5::limit_resources(a[0]);
       return nmb::hdf5::import_file(a[0], number(a[1]), a[2], nmb::hdf5::OtherFiles::kLeft);
     }},
    // Started by undo_filter() (base/server/hdf5_filters.h).
    {"decode", 0, [](char**) { return nmb::hdf5::undo_filters(); }},
    // Works like `import`, but also reads values in other files. These files may have any size.
    {"materialise", 3,
     [](char** a) {
       return nmb::hdf5::import_file(a[0], number(a[1]), a[2], nmb::hdf5::OtherFiles::kCopied);
     }},
};

int run(std::span<char*> words) {
  if (const nmb::Status lzf = nmb::hdf5::register_lzf(); !lzf.ok()) return nmb::hdf5::send_end(lzf);
  for (const Command& command : kCommands)
    if (words.size() == static_cast<std::size_t>(command.arguments) + 1 && command.name == words[0])
      return command.run(words.data() + 1);
  std::fprintf(stderr,
               "nmb-hdf5: unknown command; this program is run by nmconvert and other tools, not "
               "by users\n");
  nmb::hdf5::send_end(nmb::Status(nmb::Code::kUsage, "unknown command of nmb-hdf5"));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span words(argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0));
  if (words.size() == 1 && std::string_view(words[0]) == "serve") {
    nmb::hdf5::Hdf5Server::start_by_fork([](int socket) { return nmb::hdf5::serve(socket, run); });
    return nmb::hdf5::serve(STDIN_FILENO, run);
  }
  return run(words);
}
