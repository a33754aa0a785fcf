// write_and_read FILE.nmb writes an NMB file with two blocks, then reads one variable of the file.
// This is a short program that uses both Writer and Reader (writer/file_writer.h,
// reader/file_reader.h).
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reader/file_reader.h"
#include "writer/file_writer.h"

namespace {

using nmb::Status;

constexpr std::uint64_t kSteps = 4;
constexpr std::array<double, kSteps> kTemperatures = {281.5, 283.25, 286.0, 282.0};

// Writes one block for each station. The name of a block is a path. A block has its own variables.
Status write(const std::string& path) {
  nmb::FileWriterOptions options;
  options.overwrite = true;
  NMB_ASSIGN(const std::unique_ptr<nmb::FileWriter> writer, nmb::FileWriter::create(path, options));
  std::vector<nmb::BlockId> blocks;
  for (const char* station : {"station/north", "station/south"}) {
    NMB_ASSIGN(const nmb::BlockId block, writer->define_block(station));
    NMB_ASSIGN(const nmb::DimId time, writer->def_dim(block, "time", nmb::kUnlimited));
    const std::array<nmb::DimId, 1> dimensions = {time};
    NMB_ASSIGN(const nmb::VarId temperature,
               writer->def_var(block, "temperature", nmb::Type::kFloat, dimensions));
    NMB_TRY(writer->put_att_text(block, temperature, "units", "K"));
    NMB_TRY(writer->set_samples(block, 1));
    blocks.push_back(block);
  }
  NMB_TRY(writer->end_define());
  for (const nmb::BlockId block : blocks) NMB_TRY(writer->put(block, 0, kTemperatures));
  return writer->close();  // the file appears only after this call
}

Status read(const std::string& path) {
  NMB_ASSIGN(const std::unique_ptr<nmb::FileReader> reader, nmb::FileReader::open(path));
  const nmb::Totals& totals = reader->totals();
  std::printf("%ju blocks, %ju variables, %ju samples\n", std::uintmax_t{totals.blocks},
              std::uintmax_t{totals.variables}, std::uintmax_t{totals.samples});

  // object() loads only the block of the object, and the index pages that lead to this block.
  NMB_ASSIGN(const nmb::Object object, reader->object("station/south/temperature"));
  NMB_ASSIGN(const std::vector<double> values, object.block->read_all<double>(object.variable));
  for (const double value : values) std::printf("%g\n", value);
  return values == std::vector<double>(kTemperatures.begin(), kTemperatures.end())
             ? Status()
             : Status(nmb::Code::kDamaged,
                      "the values that were read differ from the values that were written");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_and_read FILE.nmb\n", stderr);
    return 2;
  }
  const std::string path = argv[1];
  Status status = write(path);
  if (status.ok()) status = read(path);
  if (status.ok()) return 0;
  std::fprintf(stderr, "write_and_read: %s\n", status.in_file(path).text().c_str());
  return 2;
}
