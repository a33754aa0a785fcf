// bench_create: creates very many objects with this library and prints what it cost.
#include <CLI/CLI.hpp>
#include <exception>
#include <memory>

#include "create_report.h"
#include "define_all.h"
#include "writer/file_writer.h"

namespace nmb::bench {

namespace {

Status create(const Description& description, const std::string& path,
              const FileWriterOptions& options, bool with_values) {
  const PeakMemory memory;
  CreateReport report;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, options));
  NMB_ASSIGN(const BlockId first_block, define_all(*writer, description));
  report.phase("define");
  NMB_TRY(writer->end_define());
  report.phase("end_define");
  if (with_values) {
    std::size_t variable = 0, dimension = 0;
    BlockId id = first_block;  // block IDs count up
    for (const Description::Block& block : description.blocks) {
      for (VarId i = 0; i < block.variables; ++i) {
        std::uint64_t count = 1;
        for (std::uint8_t axis = 0; axis < description.variables[variable].rank; ++axis)
          count *= description.dimensions[dimension++].length;
        const std::vector<std::int32_t> values = values_of(variable++, count);
        NMB_TRY(writer->put(id, i, std::span<const std::int32_t>(values)));
      }
      ++id;
    }
    report.phase("put");
  }
  NMB_TRY(writer->close());
  report.phase("close");
  report.finish(memory.megabytes());
  report.print(path, report.numbers(description.counts()));
  return {};
}

}  // namespace

}  // namespace nmb::bench

int main(int argc, char** argv) try {
  using nmb::MetadataCodec;
  using nmb::bench::Samples;
  using nmb::bench::Shape;
  CLI::App app("Creates very many objects with libnmb.", "bench_create");
  std::string path, codec = "default";
  Shape shape = Shape::kOne;
  std::uint64_t samples = 0, times = 1, one_object_blocks = 0;
  bool with_values = false, sync = false;
  app.add_option("FILE", path, "to be written, replaced if there")->required();
  app.add_option("--shape", shape, "one, samples, one-object")
      ->transform(CLI::CheckedTransformer(nmb::bench::kShapes));
  app.add_option("--samples", samples, "default: as many as make 568,480 variables");
  app.add_option("--times", times, "as many again")->check(CLI::Range(1, 100));
  app.add_option("--one-object-blocks", one_object_blocks,
                 "short for --shape one-object --samples N");
  app.add_option("--codec", codec, "of metadata")->check(CLI::IsMember({"default", "none"}));
  app.add_flag("--values", with_values, "put values, in a phase of their own");
  app.add_flag("--sync", sync, "commits wait for the device");
  CLI11_PARSE(app, argc, argv);

  if (one_object_blocks != 0) {
    shape = Shape::kOneObject;
    samples = one_object_blocks;
  }
  if (samples == 0) samples = nmb::bench::usual_samples(shape);
  nmb::FileWriterOptions options;
  options.overwrite = true;
  options.sync = sync;
  if (codec == "none") options.metadata_codec = MetadataCodec::kNone;
  const nmb::Status status = nmb::bench::create(
      describe(shape, Samples::all(samples * times), false), path, options, with_values);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_create: %s\n", status.in_file(path).text().c_str());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_create: %s\n", error.what());
  return 2;
}
