// bench_lookup: lookups in an NMB file that bench_create --values made. If the first argument is
// --unverified, only the bytes of the variable are read, not the pieces in which they lie.
#include <stdexcept>
#include <string_view>

#include "lookup.h"
#include "reader/file_reader.h"

namespace {

nmb::Result<std::vector<std::int32_t>> look_up(const std::string& path, const std::string& name,
                                               nmb::Unverified unverified) {
  NMB_ASSIGN(const std::unique_ptr<nmb::FileReader> reader,
             nmb::FileReader::open(path, {.unverified = unverified}));
  NMB_ASSIGN(const nmb::Object object, reader->object(name));
  return object.block->read_all<std::int32_t>(object.variable);
}

}  // namespace

int main(int argc, char** argv) {
  nmb::Unverified unverified = nmb::Unverified::kNothing;
  if (argc > 1 && std::string_view(argv[1]) == "--unverified") {
    unverified = nmb::Unverified::kPartsOfPieces;
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  return nmb::bench::run_lookups(
      argc, argv, "bench_lookup", [&](const std::string& path, const std::string& name) {
        nmb::Result<std::vector<std::int32_t>> values = look_up(path, name, unverified);
        if (!values.ok()) throw std::runtime_error(values.status().text());
        return std::move(values).value();
      });
}
