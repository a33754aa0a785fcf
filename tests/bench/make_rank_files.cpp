// make_rank_files: per-process CDF-5 files of graph samples with values of realistic sizes and
// attributes, the input of the packing benchmark: each sample 5 variables of 4 to 200 KiB, each
// variable a dimension of its own and one that is shared.
#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "files/files.h"
#include "model/classic.h"
#include "model/metadata.h"

namespace {

using nmb::Metadata;
using nmb::Status;
using nmb::Type;

struct Kind {
  const char* key;
  Type type;
  std::uint64_t width;  // length of the second dimension
};
constexpr std::array<Kind, 5> kKinds = {{{"features", Type::kFloat, 4},
                                         {"position", Type::kFloat, 3},
                                         {"semantic", Type::kInt64, 1},
                                         {"instance", Type::kInt64, 1},
                                         {"edges", Type::kInt64, 2}}};
constexpr double kSmallest = 4096,
                 kLargest = 204800;  // bytes of a variable, evenly spread in logarithm

struct Options {
  std::string folder;
  std::uint64_t files = 64, samples = 100, seed = 1;
  std::uint64_t plain = 0;  // instead: one variable of so many bytes, a hole
};

Status put_text(Metadata* metadata, nmb::VarId owner, const char* name, std::string_view text) {
  return metadata->put_att(owner, name, Type::kChar, std::as_bytes(std::span(text)));
}

Status define_samples(const Options& options, std::uint64_t file, Metadata* metadata) {
  NMB_TRY(put_text(metadata, nmb::kGlobal, "title", "graph samples"));
  NMB_TRY(put_text(metadata, nmb::kGlobal, "rank", std::to_string(file)));
  std::array<nmb::DimId, 4> widths{};
  for (std::uint64_t i = 0; i < widths.size(); ++i) {
    NMB_ASSIGN(widths[i], metadata->def_dim("width_" + std::to_string(i + 1), i + 1));
  }
  std::mt19937_64 random(options.seed * 1'000'003 + file);
  for (std::uint64_t s = 0; s < options.samples; ++s) {
    std::array<char, 48> sample{};
    std::snprintf(sample.data(), sample.size(), "r%04ju_s%05ju", std::uintmax_t{file},
                  std::uintmax_t{s});
    for (const Kind& kind : kKinds) {
      const double fraction = static_cast<double>(random() >> 11) * 0x1p-53;
      const double bytes = kSmallest * std::pow(kLargest / kSmallest, fraction);
      const std::uint64_t length =
          static_cast<std::uint64_t>(bytes) / (nmb::type_size(kind.type) * kind.width);
      const std::string name = std::string(sample.data()) + "_" + kind.key;
      NMB_ASSIGN(const nmb::DimId own, metadata->def_dim("n_" + name, length));
      const std::array<nmb::DimId, 2> dimensions = {own, widths[kind.width - 1]};
      NMB_ASSIGN(const nmb::VarId id, metadata->def_var(name, kind.type, dimensions));
      NMB_TRY(put_text(metadata, id, "long_name", kind.key));
      NMB_TRY(put_text(metadata, id, "sample", sample.data()));
    }
  }
  return {};
}

Status define_plain(const Options& options, Metadata* metadata) {
  NMB_ASSIGN(const nmb::DimId n, metadata->def_dim("n", options.plain));
  NMB_ASSIGN([[maybe_unused]] const nmb::VarId id,
             metadata->def_var("bytes", Type::kByte, std::span(&n, 1)));
  return {};
}

Status write_file(const Options& options, std::uint64_t file, const std::string& path,
                  std::uint64_t* total) {
  Metadata metadata;
  NMB_TRY(options.plain != 0 ? define_plain(options, &metadata)
                             : define_samples(options, file, &metadata));
  NMB_ASSIGN(const nmb::ClassicLayout layout, nmb::layout_classic(metadata, nmb::Kind::kCdf5));
  NMB_ASSIGN(const std::unique_ptr<nmb::OutputFile> output,
             nmb::create_output(path, {.overwrite = true, .sync = false}));
  std::uint64_t position = 0;
  const auto write = [&](std::span<const std::byte> bytes) {
    Status status = output->write_at(position, bytes);
    position += bytes.size();
    return status;
  };
  NMB_TRY(nmb::encode_classic_header(metadata, nmb::Kind::kCdf5, 0, write));
  if (options.plain == 0) {
    // Nothing reads the values as numbers: random words will do.
    std::mt19937_64 random(options.seed * 2'000'003 + file);
    std::vector<std::uint64_t> words(1 << 17);
    while (position < layout.fixed_end) {
      for (std::uint64_t& word : words) word = random();
      const auto bytes = std::as_bytes(std::span(words));
      NMB_TRY(
          write(bytes.first(std::min<std::uint64_t>(bytes.size(), layout.fixed_end - position))));
    }
  }
  NMB_TRY(output->truncate(layout.fixed_end));
  *total += layout.fixed_end;
  return output->publish();
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Writes per-process CDF-5 files.", "make_rank_files");
  Options options;
  app.add_option("FOLDER", options.folder, "gets rank_0000.nc, rank_0001.nc, ...")->required();
  app.add_option("--files", options.files, "number of files")->check(CLI::Range(1, 10000));
  app.add_option("--samples", options.samples, "samples of 5 variables in each file")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seed", options.seed, "another seed makes other samples");
  app.add_option("--plain", options.plain,
                 "instead: one variable of so many bytes in each file, a hole");
  CLI11_PARSE(app, argc, argv);
  std::filesystem::create_directories(options.folder);
  std::uint64_t total = 0;
  for (std::uint64_t file = 0; file < options.files; ++file) {
    std::array<char, 48> name{};
    std::snprintf(name.data(), name.size(), "/rank_%04ju.nc", std::uintmax_t{file});
    const std::string path = options.folder + name.data();
    const Status status = write_file(options, file, path, &total);
    if (!status.ok()) {
      std::fprintf(stderr, "make_rank_files: %s\n", status.in_file(path).text().c_str());
      return 2;
    }
  }
  std::printf("files %ju bytes %ju\n", std::uintmax_t{options.files}, std::uintmax_t{total});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "make_rank_files: %s\n", error.what());
  return 2;
}
