// Random sequences of calls to the writer, over several generations and openings, against a model
// in memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "support/corpus.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/sanitized.h"

namespace nmb::test {
namespace {

FileWriterOptions random_options(std::mt19937_64& random) {
  FileWriterOptions options;
  options.piece_size = 65536;
  const std::uint32_t limits[] = {0, 64, 4096, 65536};
  options.inline_limit = limits[random() % 4];
  options.metadata_codec = static_cast<MetadataCodec>(random() % 3);
  options.threads = 1 + static_cast<unsigned>(random() % 3);
  options.sync = false;
  return options;
}

// What the writer itself reads, committed or not. Packed blocks have no values before a commit.
void expect_gets(FileWriter& writer, const Model& model) {
  for (const auto& [name, block] : model) {
    const BlockId id = *writer.find_block(name);
    for (VarId v = 0; v < block.variables.size(); ++v) {
      const ModelVariable& variable = block.variables[v];
      if (variable.type == Type::kChar) continue;
      Hyperslab slab;
      slab.count = block.shape(variable);
      slab.start.assign(slab.count.size(), 0);
      std::vector<double> found(variable.values.size());
      const Status status = writer.get(id, v, slab, found);
      if (status.code() == Code::kUsage &&
          status.message().find("before its values are committed") != std::string::npos)
        continue;
      ASSERT_TRUE(status.ok()) << name << " " << variable.name << ": " << status.text();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const double value = variable.values[i];
        ASSERT_EQ(found[i], std::isnan(value) ? variable.fill_as_double() : value)
            << name << " " << variable.name << " at " << i;
      }
    }
  }
}

// Generations of a file, with what each of them holds.
struct History {
  std::vector<Model> models;
  std::vector<std::unique_ptr<FileReader>> readers;
};

void write_generations(const std::string& path, std::uint64_t seed, unsigned threads,
                       History* history) {
  std::mt19937_64 random(seed);
  FileWriterOptions options = random_options(random);
  if (threads != 0) options.threads = threads;
  Model model;
  for (int opening = 0; opening < 3; ++opening) {
    auto writer =
        opening == 0 ? FileWriter::create(path, options) : FileWriter::open(path, options);
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    RandomSession session(**writer, model, random());
    const int generations = 1 + static_cast<int>(random() % 3);
    for (int g = 0; g < generations; ++g) {
      for (int again = static_cast<int>(random() % 3); again >= 0; --again) {
        Status status = session.define(static_cast<int>(random() % 12));
        if (status.ok()) status = session.end_define();
        if (status.ok()) status = session.put(static_cast<int>(random() % 12));
        if (status.ok() && history) {
          ASSERT_NO_FATAL_FAILURE(expect_gets(**writer, model));
        }
        if (status.ok() && again > 0) status = (*writer)->redefine();
        ASSERT_TRUE(status.ok()) << status.text();
      }
      std::uint64_t place = 0;
      for (const auto& [name, block] : model) {
        auto id = (*writer)->global_id(*(*writer)->find_block(name));
        ASSERT_TRUE(id.ok()) << id.status().text();
        ASSERT_EQ(*id, place++) << name;
      }
      const Status status = (*writer)->sync();
      ASSERT_TRUE(status.ok()) << status.text();
      session.committed();
      if (history) {
        ASSERT_NO_FATAL_FAILURE(expect_gets(**writer, model));
        ASSERT_EQ(difference(model, path), "") << "generation " << (*writer)->generation();
        ASSERT_EQ(findings_of(std::filesystem::path(path)), "")
            << "generation " << (*writer)->generation();
        auto reader = FileReader::open(path);
        ASSERT_TRUE(reader.ok());
        history->readers.push_back(std::move(*reader));
        history->models.push_back(model);
      }
      if (g + 1 < generations) {
        ASSERT_TRUE((*writer)->redefine().ok());
      }
    }
    ASSERT_TRUE((*writer)->close().ok());
  }
}

std::uint64_t first_seed() {
  const char* seed = std::getenv("NMB_SEED");
  return seed ? std::strtoull(seed, nullptr, 10) : 1;
}

TEST(WriterProperty, EveryGenerationReadsAsTheModelAndVerifies) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 120 / kShare; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string path = (folder.path() / ("f" + std::to_string(seed) + ".nmb")).string();
    History history;
    ASSERT_NO_FATAL_FAILURE(write_generations(path, seed, 0, &history));
    // Readers that were opened earlier still see what they opened.
    for (std::size_t g = 0; g < history.readers.size(); ++g)
      ASSERT_EQ(difference(history.models[g], *history.readers[g]), "")
          << "old generation " << g + 1;
    std::filesystem::remove(path);
  }
}

TEST(WriterProperty, SameCallsMakeTheSameBytesOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 500; seed < 500 + 12 / kShare; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<std::byte> first;
    for (unsigned threads : {1u, 1u, 2u, 5u}) {
      const auto path = folder.path() / "f.nmb";
      std::filesystem::remove(path);
      ASSERT_NO_FATAL_FAILURE(write_generations(path.string(), seed, threads, nullptr));
      std::vector<std::byte> bytes = read_file(path);
      if (first.empty()) first = bytes;
      ASSERT_TRUE(bytes == first) << threads << " threads";
    }
  }
}

TEST(WriterProperty, TheReferenceReaderHasNoFindings) {
  const char* reference = std::getenv("NMB_REFERENCE");  // a command
  if (!reference) GTEST_SKIP() << "NMB_REFERENCE is not set";
  const TemporaryFolder folder;
  for (std::uint64_t seed = 900; seed < 906; ++seed) {
    const std::string path = (folder.path() / ("f" + std::to_string(seed) + ".nmb")).string();
    ASSERT_NO_FATAL_FAILURE(write_generations(path, seed, 0, nullptr));
    const ProgramResult result = run(reference + std::string(" --findings ") + shell_quoted(path));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_EQ(result.output, "") << "seed " << seed;
    // The headers alone show the blocks of the index.
    EXPECT_EQ(run(reference + std::string(" --scan ") + shell_quoted(path)).exit_code, 0)
        << "seed " << seed;
  }
}

TEST(WriterProperty, OfOneGenerationTheBlockCountsAndNotTheTombstone) {
  const char* reference = std::getenv("NMB_REFERENCE");  // a command
  if (!reference) GTEST_SKIP() << "NMB_REFERENCE is not set";
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "f.nmb").string();
  auto writer = *FileWriter::create(path);
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(writer->define_block(name).ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->redefine().ok());
  ASSERT_TRUE(writer->remove_block(*writer->find_block("a")).ok());
  ASSERT_TRUE(writer->define_block("a").ok());
  ASSERT_TRUE(writer->rename_block(*writer->find_block("b"), "d").ok());
  ASSERT_TRUE(writer->rename_block(*writer->find_block("c"), "b").ok());
  ASSERT_TRUE(writer->close().ok());
  const ProgramResult result = run(reference + std::string(" --scan ") + shell_quoted(path));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  for (const char* name : {"a", "b", "d"})
    EXPECT_NE(result.output.find("\t2\t\"" + std::string(name) + "\"\n"), std::string::npos)
        << result.output;
}

}  // namespace
}  // namespace nmb::test
