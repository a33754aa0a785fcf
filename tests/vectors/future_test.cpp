// Files that a later version of the format may write: readers, writers and nmverify do what
// spec/vectors/future.tsv says, and unknown structures are kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "files/files.h"
#include "index/entry_codec.h"
#include "reader/file_reader.h"
#include "reader/reader_core.h"
#include "superblock/head.h"
#include "support/corpus.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "verify/verify.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

// A line of the table.
struct Row {
  std::string name, reader, writer, nmverify;
  fs::path file() const { return test::vectors() / (name + ".nmb"); }
  bool is_damaged() const { return nmverify.starts_with("R-"); }
};

std::vector<Row> table() {
  std::ifstream in(NMB_PROJECT_FOLDER "/spec/vectors/future.tsv");
  std::vector<Row> rows;
  std::string line;
  bool header = true;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (std::exchange(header, false)) continue;
    std::istringstream fields(line);
    Row& row = rows.emplace_back();
    for (std::string* field : {&row.name, &row.reader, &row.writer, &row.nmverify})
      std::getline(fields, *field, '\t');
  }
  return rows;
}

// "a b", "a without values, b": the names, and those whose values cannot be read.
struct Names {
  std::set<std::string> all, without_values;
};

Names names_in(const std::string& text) {
  Names names;
  std::istringstream words(text);
  std::string word, last;
  while (words >> word) {
    while (word.ends_with(',')) word.pop_back();
    if (word == "values") continue;
    if (word == "without")
      names.without_values.insert(last);
    else
      names.all.insert(last = word);
  }
  return names;
}

// Blocks of the readable entries, with their values; nullopt if the values cannot be read.
using Content = std::map<std::string, std::optional<std::vector<std::byte>>>;

Status read_block(const FileReader& reader, const std::string& name,
                  std::vector<std::byte>* values) {
  NMB_ASSIGN(const auto block, reader.block(name));
  values->resize(block->extent->size());
  return block->extent->read_at(0, *values);
}

// names: of all blocks that there may be.
Content content_of(const FileReader& reader, const std::set<std::string>& names) {
  Content content;
  for (const std::string& name : names) {
    std::vector<std::byte> values;
    if (read_block(reader, name, &values).ok())
      content[name] = std::move(values);
    else if (reader.block(name).ok())
      content[name] = std::nullopt;
  }
  return content;
}

const std::set<std::string> kNames{"a", "b", "c", "d", "e", "f", "g", "h"};

// All names of the file, and those above.
std::set<std::string> names_of(const FileReader& reader) {
  std::set<std::string> names = kNames;
  (void)reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    names.insert(entry.name);
    return true;
  });
  return names;
}

bool exists(const FileReader& reader, const std::string& name) {
  const auto found = reader.find(name);
  return !found.ok() || found->has_value();
}

TEST(Future, TheTableHasAllVectors) {
  NMB_NEEDS_VECTORS();
  // Others may be in it too.
  std::set<std::string> listed, there;
  for (const Row& row : table()) EXPECT_TRUE(listed.insert(row.name).second) << row.name;
  for (const auto& expected : test::vector_expectations()) {
    there.insert(expected.name);
    if (expected.name.starts_with("future_")) {
      EXPECT_TRUE(listed.contains(expected.name)) << expected.name;
    }
  }
  for (const std::string& name : listed) EXPECT_TRUE(there.contains(name)) << name;
  EXPECT_GE(listed.size(), 25u);
}

TEST(Future, ReadersReadWhatTheTableSays) {
  NMB_NEEDS_VECTORS();
  for (const Row& row : table()) {
    SCOPED_TRACE(row.name);
    const auto opened = FileReader::open(row.file().string());
    const Code refused = row.is_damaged() ? Code::kDamaged : Code::kUnsupported;
    if (row.reader == "none") {
      const Status status = opened.ok()
                                ? (*opened)->for_each_entry(
                                      "", [](const BlockEntry&) -> Result<bool> { return true; })
                                : opened.status();
      EXPECT_EQ(status.code(), refused) << status.text();
      continue;
    }
    if (row.is_damaged() && !opened.ok()) continue;  // which a reader may refuse
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    const FileReader& reader = **opened;
    EXPECT_GT(reader.totals().blocks, 0u);
    const Names expected = names_in(row.reader);
    for (const std::string& name : names_of(reader)) {
      if (!exists(reader, name)) continue;
      std::vector<std::byte> values;
      const Status status = read_block(reader, name, &values);
      if (row.reader == "all" ||
          (expected.all.contains(name) && !expected.without_values.contains(name))) {
        EXPECT_TRUE(status.ok()) << name << ": " << status.text();
        continue;
      }
      EXPECT_EQ(reader.block(name).ok(), expected.all.contains(name)) << name;
      EXPECT_TRUE(status.code() == Code::kUnsupported || status.code() == refused)
          << name << ": " << status.text();
      if (status.rule() == "R-IX-10") {
        EXPECT_NE(status.message().find("\"" + name + "\""), std::string::npos) << status.text();
        EXPECT_NE(status.message().find("need bit "), std::string::npos) << status.text();
        EXPECT_TRUE(reader.find(name).ok());
      }
    }
  }
}

TEST(Future, VerifyFindsWhatTheTableSays) {
  NMB_NEEDS_VECTORS();
  for (const Row& row : table()) {
    SCOPED_TRACE(row.name);
    const auto file = *FileSource::open(row.file().string());
    test::FindingList findings;
    const auto summary = verify(*file, {}, findings);
    ASSERT_TRUE(summary.ok()) << summary.status().text();
    std::set<std::string> found, unsupported, damaged, refused;
    for (const Finding& finding : findings.list) {
      if (finding.severity == Severity::kFinding) found.insert(finding.rule);
      if (finding.severity == Severity::kUnsupported) unsupported.insert(finding.rule);
    }
    std::istringstream words(row.nmverify);
    bool after = false;
    for (std::string word; words >> word;) {
      if (word == "unsupported")
        after = true;
      else if (word != "sound")
        (after ? refused : damaged).insert(word);
    }
    EXPECT_EQ(found, damaged) << findings.text();
    EXPECT_EQ(unsupported, refused) << findings.text();
    EXPECT_EQ(summary->incomplete.ok(), refused.empty()) << summary->incomplete.text();
    if (refused.contains("R-IX-10")) {
      EXPECT_EQ(summary->damaged_blocks, damaged.empty() ? 0u : 1u);
      EXPECT_EQ(summary->sound_blocks, summary->recorded_blocks - 1);
    }
  }
}

class FutureFileTest : public testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "f.nmb").string(); }
  void take(const Row& row) {
    fs::copy_file(row.file(), path(), fs::copy_options::overwrite_existing);
    const fs::path beside = test::vectors() / "beside";
    if (fs::exists(beside))
      fs::copy(beside, folder_.path() / "beside",
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  static FileWriterOptions options() {
    FileWriterOptions options;
    options.sync = false;
    return options;
  }
  // Commits a change that `work` makes.
  template <class Work>
  Status commit(Work work) const {
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::open(path(), options()));
    NMB_TRY(work(*writer));
    return writer->close();
  }
  Status add(const std::string& name) const {
    return commit([&](FileWriter& writer) -> Status {
      NMB_ASSIGN(const BlockId block, writer.define_block(name));
      NMB_ASSIGN(const DimId x, writer.def_dim(block, "x", 3));
      NMB_ASSIGN(const VarId v, writer.def_var(block, "v", Type::kInt, {{x}}));
      NMB_TRY(writer.end_define());
      const int values[] = {1, 2, 3};
      return writer.put(block, v, {{0}, {3}, {}}, values);
    });
  }
  Status rename(const std::string& name, const std::string& to) const {
    return commit([&](FileWriter& writer) -> Status {
      NMB_ASSIGN(const BlockId block, writer.find_block(name));
      return writer.rename_block(block, to);
    });
  }
  Status remove(const std::string& name) const {
    return commit([&](FileWriter& writer) -> Status {
      NMB_ASSIGN(const BlockId block, writer.find_block(name));
      return writer.remove_block(block);
    });
  }
  // What a version that knows no more than this one sees of what it does not know: values of rows
  // of leaves by name, and places of the superblock.
  struct Unknown {
    std::map<std::string, std::vector<std::pair<std::uint16_t, Digest>>> rows;
    std::vector<Place> places;
    std::uint64_t compatible = 0, needs = 0;
  };
  Unknown unknown() const {
    const auto file = *FileSource::open(path());
    test::FindingList findings;
    const ReaderCore core(*file, *read_head(*file, findings));
    Unknown out;
    out.places = core.head().superblock.later_places;
    out.compatible = core.head().superblock.compatible;
    out.needs = core.head().superblock.needs;
    if (const auto root = core.index().root(); root.ok()) add_rows(core, **root, &out);
    return out;
  }
  static void add_rows(const ReaderCore& core, const Page& page, Unknown* out) {
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      if (page.level() > 0) {
        const auto child = core.index().child(page, row);
        if (child.ok()) add_rows(core, **child, out);
        continue;
      }
      for (const UnknownValue& value : page.unknown_values(row))
        out->rows[std::string(page.name(row))].push_back({value.id, value.value});
    }
  }
  // Sound, or as it was before: what is not supported stays so.
  void check_sound(const Row& row) const {
    const auto file = *FileSource::open(path());
    test::FindingList findings;
    const auto summary = verify(*file, {}, findings);
    ASSERT_TRUE(summary.ok()) << summary.status().text();
    EXPECT_FALSE(findings.has(Severity::kFinding)) << findings.text();
    EXPECT_EQ(findings.has(Severity::kUnsupported), row.nmverify != "sound") << findings.text();
  }

  test::TemporaryFolder folder_;
};

TEST_F(FutureFileTest, WritersAddBesideAndKeepWhatTheyDoNotKnow) {
  NMB_NEEDS_VECTORS();
  for (const Row& row : table()) {
    if (row.is_damaged()) continue;  // a writer need not find it
    SCOPED_TRACE(row.name);
    take(row);
    const std::vector<std::byte> bytes = test::read_file(path());
    Content before;
    Unknown old;
    std::uint64_t blocks = 0;
    if (const auto reader = FileReader::open(path()); reader.ok()) {
      before = content_of(**reader, names_of(**reader));
      blocks = (*reader)->totals().blocks;
      old = unknown();
    }
    // A leaf of the index that cannot be read hinders changes of its blocks only.
    const bool in_a_leaf = row.name == "future_column_critical_for_reading";
    const Status status = in_a_leaf ? rename("a", "zz") : add("zz");
    if (row.writer == "refuse") {
      EXPECT_EQ(status.code(), Code::kUnsupported) << status.text();
      // Nothing was committed, and no committed byte has changed.
      const std::vector<std::byte> after = test::read_file(path());
      ASSERT_GE(after.size(), bytes.size());
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), after.begin()));
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.text();
    check_sound(row);
    const auto reader = FileReader::open(path());
    ASSERT_TRUE(reader.ok()) << reader.status().text();
    EXPECT_EQ((*reader)->totals().blocks, blocks + 1);
    Content after = content_of(**reader, names_of(**reader));
    EXPECT_TRUE(after.contains("zz"));
    after.erase("zz");
    EXPECT_TRUE(after == before);
    const Unknown kept = unknown();
    EXPECT_TRUE(kept.rows == old.rows);
    EXPECT_TRUE(kept.places == old.places);
    EXPECT_EQ(kept.compatible & old.compatible, old.compatible);
    EXPECT_EQ(kept.needs & old.needs, old.needs);
  }
}

// A writer that changes the row leaves the place out, and need not read what it led to (sections 6
// and 11).
TEST_F(FutureFileTest, DamageInWhatDiesGoesWithIt) {
  NMB_NEEDS_VECTORS();
  Row row;
  row.name = "future_place_of_a_node_damaged";
  take(row);
  ASSERT_TRUE(add("zz/new").ok());
  row.nmverify = "sound";
  check_sound(row);
  const auto reader = FileReader::open(path());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->totals().blocks, 5u);
}

TEST_F(FutureFileTest, WritersChangeTheBlocksThatTheTableAllows) {
  NMB_NEEDS_VECTORS();
  for (const Row& row : table()) {
    if (row.is_damaged() || row.writer == "refuse") continue;
    SCOPED_TRACE(row.name);
    take(row);
    const bool all = row.writer == "all";
    const Names refused = all ? Names{} : names_in(row.writer.substr(sizeof "all but" - 1));
    const auto reader = *FileReader::open(path());
    for (const std::string& name : names_of(*reader)) {
      if (!exists(*reader, name)) continue;
      SCOPED_TRACE(name);
      for (const bool removed : {false, true}) {
        take(row);
        const Unknown old = unknown();
        const Status status = removed ? remove(name) : rename(name, name + "2");
        // A renamed block keeps its statistics, so their pages do not change.
        const bool keeps_page =
            !removed && row.name == "future_column_of_statistics_critical_for_writing";
        if (refused.all.contains(name) && !keeps_page) {
          EXPECT_EQ(status.code(), Code::kUnsupported) << status.text();
          continue;
        }
        ASSERT_TRUE(status.ok()) << status.text();
        check_sound(row);
        // The row of the block is made without what this version does not know; others keep it.
        Unknown kept = unknown();
        EXPECT_FALSE(kept.rows.contains(name));
        EXPECT_FALSE(kept.rows.contains(name + "2"));
        std::map others = old.rows;
        others.erase(name);
        EXPECT_TRUE(kept.rows == others);
      }
    }
  }
}

}  // namespace
}  // namespace nmb
