// bench_lookup: lookups in an NMB file that bench_create --values made.
#include <stdexcept>

#include "lookup.h"
#include "nmb/reader.h"

namespace {

nmb::Result<std::vector<std::int32_t>> look_up(const std::string& path, const std::string& name) {
  NMB_ASSIGN(const std::unique_ptr<nmb::Reader> reader, nmb::Reader::open(path));
  NMB_ASSIGN(const nmb::Object object, reader->object(name));
  return object.block->read_all<std::int32_t>(object.variable);
}

}  // namespace

int main(int argc, char** argv) {
  return nmb::bench::run_lookups(
      argc, argv, "bench_lookup", [](const std::string& path, const std::string& name) {
        nmb::Result<std::vector<std::int32_t>> values = look_up(path, name);
        if (!values.ok()) throw std::runtime_error(values.status().text());
        return std::move(values).value();
      });
}
