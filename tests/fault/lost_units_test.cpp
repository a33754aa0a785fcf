// Damage of one or two units of the head and the trailer, of 512 and of 4096 bytes: each is set to
// zeros, to ones, has one bit flipped, or holds what stood there before. One lost unit costs
// nothing: the newest generation is read. Two cost nothing or are found. A writer that opens such a
// file never continues from an older generation. (spec/writer.md, section 5.7) NMB_DAMAGE_ALL=1
// tries all pairs of units, not a part of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "fault/session_file.h"
#include "reader/file_reader.h"
#include "superblock/superblock.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/programs.h"
#include "support/sanitized.h"
#include "verify/verify.h"

namespace nmb::test {
namespace {

using Bytes = std::vector<std::byte>;

// The bytes of a file after each call that changed it.
struct History {
  std::vector<Bytes> heads;  // distinct contents of the head
  Bytes image;
  std::uint64_t generation = 0;
  std::uint64_t blocks = 0;
};

// One unit, and its damaged bytes.
struct LostUnit {
  std::size_t at = 0;
  Bytes bytes;
  std::string text;
};

History make_history(int generations, Hdf5View view, std::uint64_t seed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb";
  History history;
  std::set<Bytes> heads;
  Model model;
  for (int g = 0; g < generations; ++g) {
    std::vector<OutputCall> calls;
    // The last generation keeps the view of the one before.
    const Hdf5View asked = g + 1 < generations || generations == 1 ? view : Hdf5View::kOff;
    // The longest history ends with growth.
    const bool grows = generations == 5 && (g == 0 || g >= 3);
    const Status status = write_session(path, g == 0, seed + static_cast<std::uint64_t>(g),
                                        grows ? SessionKind::kRecords : SessionKind::kDefinitions,
                                        fault_options(recording(calls), asked), &model);
    EXPECT_TRUE(status.ok()) << status.text();
    Bytes image = history.image;
    for (const OutputCall& call : calls) {
      call.apply(&image);
      if (image.size() >= kBodyStart)
        heads.insert({image.begin(), image.begin() + static_cast<std::ptrdiff_t>(kBodyStart)});
    }
    history.image = read_file(path);
  }
  history.heads.assign(heads.begin(), heads.end());
  auto reader = FileReader::open(path.string());
  EXPECT_TRUE(reader.ok());
  history.generation = (*reader)->generation();
  history.blocks = (*reader)->totals().blocks;
  EXPECT_EQ(history.generation, static_cast<std::uint64_t>(generations));
  return history;
}

// All ways to damage the unit of `size` bytes at `at`, each of which changes it.
std::vector<LostUnit> damages_of(const History& history, std::size_t at, std::size_t size) {
  const auto begin = history.image.begin() + static_cast<std::ptrdiff_t>(at);
  const Bytes now(begin, begin + static_cast<std::ptrdiff_t>(size));
  std::set<Bytes> tried{now};
  std::vector<LostUnit> out;
  auto add = [&](Bytes bytes, const std::string& text) {
    if (tried.insert(bytes).second)
      out.push_back({at, std::move(bytes), text + " at " + std::to_string(at)});
  };
  add(Bytes(size, std::byte{0}), "zeros");
  add(Bytes(size, std::byte{0xff}), "ones");
  Bytes flipped = now;
  flipped[(at / 512 * 37) % size] ^= std::byte{4};
  add(std::move(flipped), "a flipped bit");
  if (at + size <= kBodyStart)
    for (const Bytes& head : history.heads)
      add({head.begin() + static_cast<std::ptrdiff_t>(at),
           head.begin() + static_cast<std::ptrdiff_t>(at + size)},
          "older content");
  return out;
}

class LostUnits : public testing::TestWithParam<std::tuple<int, Hdf5View, int>> {
 protected:
  void SetUp() override {
    const auto& [generations, view, behind] = GetParam();
    history_ = make_history(generations, view, 17);
    trailer_ = history_.image.size() - kSlotUnit;
    image_ = history_.image;
    // Bytes behind the file: of a write that was not committed.
    for (int i = 0; i < behind; ++i) image_.push_back(static_cast<std::byte>(i * 7 + 1));
  }

  // Applies the damage, looks, and takes it back.
  void check(const std::vector<const LostUnit*>& damages) {
    std::string text;
    for (const LostUnit* one : damages) {
      std::copy(one->bytes.begin(), one->bytes.end(),
                image_.begin() + static_cast<std::ptrdiff_t>(one->at));
      text += one->text + "; ";
    }
    look(damages.size(), text);
    for (const LostUnit* one : damages)
      std::copy_n(history_.image.begin() + static_cast<std::ptrdiff_t>(one->at), one->bytes.size(),
                  image_.begin() + static_cast<std::ptrdiff_t>(one->at));
  }

  void look(std::size_t lost, const std::string& text) {
    ++checked_;
    // Not an HDF5 file, which a view and values make it look like, nor one of no kind.
    const auto kind = kind_of(MemorySource(image_, "image"));
    ASSERT_TRUE(kind.ok() && *kind == FileKind::kNmb) << text;
    auto reader = FileReader::open(std::make_shared<MemorySource>(image_, "image"));
    const bool newest = reader.ok() && (*reader)->generation() == history_.generation;
    if (newest) {
      ASSERT_EQ((*reader)->totals().blocks, history_.blocks) << text;
      ++newest_;
      if (checked_ % 23 != 0) return;
    } else {
      ASSERT_GT(lost, 1u) << text << (reader.ok() ? "an older generation" : reader.status().text());
      ASSERT_NE(findings_of(MemorySource(image_, "image")), "") << text;
      // A file that is kept and continues an older generation would lose the newest one.
      if (reader.ok()) {
        ASSERT_EQ(check_nothing_pending(**reader).rule(), "R-SB-13") << text;
        ++older_;
        // Nor does a reader keep quiet, but where the head is as it was before, and other bytes lie
        // last.
        bool told = false, settled = true;
        for (const Finding& warning : (*reader)->warnings()) {
          told |= warning.rule == "R-SB-13";
          settled &=
              warning.rule != "R-SB-1" && warning.rule != "R-SB-3" && warning.rule != "R-SB-12";
        }
        ASSERT_TRUE(told || (settled && image_.size() > history_.image.size())) << text;
      }
    }
    // A writer continues from the newest generation, or fails, and reports its repairs.
    write_file(path_, {reinterpret_cast<const char*>(image_.data()), image_.size()});
    {
      FileWriterOptions options = fault_options();
      int told = 0;
      options.on_repair = [&told](const std::string&) { ++told; };
      auto writer = FileWriter::open(path_.string(), options);
      if (!writer.ok()) {
        ASSERT_FALSE(newest && lost == 1) << text << writer.status().text();
        return;
      }
      ASSERT_EQ(told > 0, read_file(path_) != image_ || image_.size() > history_.image.size())
          << text;
      const Status added = add_block(**writer);
      ASSERT_TRUE(added.ok()) << text << added.text();
    }
    auto again = FileReader::open(path_.string());
    ASSERT_TRUE(again.ok()) << text << again.status().text();
    ASSERT_EQ((*again)->generation(), history_.generation + 1) << text;
    ASSERT_EQ((*again)->totals().blocks, history_.blocks + 1) << text;
    // Every committed byte is still there; a damaged trailer was restored.
    const auto after = read_file(path_);
    const auto committed = history_.image.begin() + kBodyStart;
    ASSERT_TRUE(std::equal(committed, history_.image.end(), after.begin() + kBodyStart)) << text;
    const auto behind = image_.begin() + static_cast<std::ptrdiff_t>(history_.image.size());
    ASSERT_TRUE(std::equal(behind, image_.end(), after.begin() + (behind - image_.begin())))
        << text;
    ++appended_;
  }

  static Status add_block(FileWriter& writer) {
    Metadata metadata;
    NMB_TRY(writer.define_block("zz/added", metadata).status());
    NMB_TRY(writer.end_define());
    return writer.close();
  }

  std::vector<LostUnit> all_damages(std::size_t unit) const {
    std::vector<LostUnit> out;
    auto add = [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; at += unit) {
        auto some = damages_of(history_, at, unit);
        out.insert(out.end(), some.begin(), some.end());
      }
    };
    add(0, kBodyStart);
    add(trailer_, trailer_ + kSlotUnit);
    return out;
  }

  void try_all(std::size_t unit, std::size_t share) {
    const std::vector<LostUnit> all = all_damages(unit);
    ASSERT_GT(all.size(), 10u);
    for (const LostUnit& one : all) ASSERT_NO_FATAL_FAILURE(check({&one}));
    std::size_t pair = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = i + 1; k < all.size(); ++k) {
        if (all[i].at == all[k].at || pair++ % share != 0) continue;
        ASSERT_NO_FATAL_FAILURE(check({&all[i], &all[k]}));
      }
    }
    EXPECT_GT(newest_, 0);
    EXPECT_GT(appended_, 0);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "damaged.nmb";
  History history_;
  Bytes image_;
  std::size_t trailer_ = 0;
  int checked_ = 0, newest_ = 0, older_ = 0, appended_ = 0;
};

std::size_t share_of_pairs(std::size_t share) {
  return std::getenv("NMB_DAMAGE_ALL") ? 1 : share * kShare;
}

TEST_P(LostUnits, UnitsOf4096) {
  try_all(4096, share_of_pairs(1));
  // Mark and slot as they were before the newest generation.
  if (history_.generation > 1) {
    EXPECT_GT(older_, 0);
  }
}
TEST_P(LostUnits, UnitsOf512) { try_all(512, share_of_pairs(11)); }

INSTANTIATE_TEST_SUITE_P(Files, LostUnits,
                         testing::Combine(testing::Values(1, 2, 5),
                                          testing::Values(Hdf5View::kOff, Hdf5View::kAuto),
                                          testing::Values(0, 5000)));

}  // namespace
}  // namespace nmb::test
