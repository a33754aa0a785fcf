// Values in every form: read whole, in parts, and rebuilt from the message to another rank.
#include "sources/value_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "files/pooled_file.h"
#include "files/spool_file.h"
#include "model/values.h"
#include "sources/laid_values.h"
#include "sources/partition_key.h"
#include "sources/selected_values.h"
#include "sources/tiled_values.h"
#include "sources/type_widening.h"
#include "sources/value_message.h"
#include "sources/value_rebasing.h"
#include "superblock/settled_head.h"
#include "support/programs.h"
#include "wire/endian.h"

namespace nmb {
namespace {

using ByteVector = std::vector<std::byte>;

ByteVector bytes_from(unsigned first, std::size_t count) {
  ByteVector out;
  while (out.size() < count) out.push_back(static_cast<std::byte>(first++));
  return out;
}

ByteVector joined(std::initializer_list<ByteVector> parts) {
  ByteVector out;
  for (const ByteVector& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Source in_memory(const ByteVector& bytes) { return owned_bytes(bytes, "memory"); }

ByteVector external(const std::vector<std::int64_t>& values, Type type) {
  ByteVector out(values.size() * type_size(type));
  convert_to_external(MemoryType::kInt64, values.data(), values.size(), type, out.data());
  return out;
}

std::shared_ptr<const LateValues> late(const ByteVector& bytes, LateOrigin origin) {
  return late_values({"late", bytes.size(), false, std::move(origin)},
                     [bytes] { return Result<Source>(in_memory(bytes)); });
}

class ValueSourceTest : public testing::Test {
 protected:
  struct Case {
    std::string what;
    Source source;
    ByteVector expected;
    bool travels = true;
  };

  Source file(const ByteVector& bytes) {
    const std::string path = (folder_.path() / std::to_string(files_++)).string();
    test::write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return *PooledFile::open(path, pool_);
  }
  Source spool(const ByteVector& bytes) {
    std::shared_ptr<SpoolFile> out = *SpoolFile::create();
    EXPECT_TRUE(out->write_at(0, bytes).ok());
    return out;
  }

  std::vector<Case> cases() {
    const ByteVector b = bytes_from(0, 60);
    const auto part = [&](std::size_t from, std::size_t count) {
      return ByteVector(b.begin() + static_cast<std::ptrdiff_t>(from),
                        b.begin() + static_cast<std::ptrdiff_t>(from + count));
    };
    const ByteVector zero(3);
    std::vector<Case> all;
    const auto add = [&](std::string what, Source source, ByteVector expected,
                         bool travels = true) {
      all.push_back({std::move(what), std::move(source), std::move(expected), travels});
    };
    add("file", file(b), b);
    add("temporary file", spool(b), b, false);
    add("run", run_of(file(b), 7, 20), part(7, 20));
    add("bytes", in_memory(b), b);
    add("repeated", source_of(form::Repeated{part(1, 3), 9}),
        joined({part(1, 3), part(1, 3), part(1, 3)}));
    const Source spliced = source_of(form::Spliced{
        {file(b), spool(b)}, {{0, 10, 5, 0}, {13, 10, 30, 1}, {23, 4, 2, 0}}, 30, "spliced"});
    const ByteVector in_spliced = joined({part(5, 10), zero, part(30, 10), part(2, 4), zero});
    add("spliced", spliced, in_spliced);
    add("run of spliced", run_of(spliced, 4, 20),
        {in_spliced.begin() + 4, in_spliced.begin() + 24});
    add("strided", source_of(form::Strided{file(b), {{2, 10, 0, 5, 2, 3}}, 15}),
        joined({part(2, 2), zero, part(12, 2), zero, part(22, 2), zero}));
    add("records", *variable_array(file(b), {{5, 3}, 1, 4, 10}, "v"),
        joined({part(4, 3), part(14, 3), part(24, 3), part(34, 3), part(44, 3)}));
    // An array of 4 times 5 values of 2 bytes: rows 3, 1 and 2, columns 4, 0 and 1.
    add("selected",
        source_of(std::make_shared<const SelectedValues>(
            SelectedValues{file(b), 3, 2, {{10, {{3, 1}, {1, 2}}}, {2, {{4, 1}, {0, 2}}}}})),
        joined({part(41, 2), part(33, 4), part(21, 2), part(13, 4), part(31, 2), part(23, 4)}));
    add("selected with strides",
        source_of(std::make_shared<const SelectedValues>(
            SelectedValues{file(b), 0, 2, {{20, {{0, 2, 2}}}, {2, {{1, 3, 3}}}}})),
        joined({part(2, 2), part(8, 2), part(14, 2), part(42, 2), part(48, 2), part(54, 2)}));
    add("no records", *variable_array(file(b), {{5, 3}, 2, 4, 0}, "v"), part(4, 30));
    add("widened",
        source_of(form::Converted{in_memory(external({-3, 4, 500}, Type::kShort)),
                                  widening({Type::kShort, Type::kInt})}),
        external({-3, 4, 500}, Type::kInt));
    // Two values of variable length and a null value; their heap moves from offset 48 to 100.
    const auto heap_values = [](const std::vector<std::uint64_t>& numbers) {
      ByteVector out(numbers.size() * 8);
      for (std::size_t i = 0; i < numbers.size(); ++i) store_le(out.data() + i * 8, numbers[i]);
      return out;
    };
    add("moved",
        source_of(
            form::Moved{in_memory(heap_values({3, 50, 0, 0, 2, 48})), 16, {{0, 2}}, 48, 8, 100}),
        heap_values({3, 102, 0, 0, 2, 100}));
    add("rebased",
        source_of(
            form::Converted{in_memory(external({-3, 4, 500}, Type::kShort)),
                            rebasing({Type::kShort, 24, 24, 240, external({500}, Type::kShort)})}),
        external({7, 14, 500}, Type::kShort));
    ValueConversion reverse{1, 1, true,
                            [](std::span<const std::byte> in, std::span<std::byte> out) {
                              for (std::size_t i = 0; i < out.size(); ++i) out[i] = ~in[i];
                            }};
    ByteVector reversed = b;
    for (std::byte& one : reversed) one = ~one;
    add("converted by a function", source_of(form::Converted{in_memory(b), reverse}), reversed,
        false);
    add("named", source_of(form::Named{file(b), "variable v"}), b);
    // Values in memory are read in place of those of the base.
    add("held", source_of(form::Held{file(b), {{4, part(4, 6)}}}), b);
    add("patched", patched(file(b), 50, bytes_from(100, 5), bytes_from(200, 4)),
        joined({bytes_from(100, 5), part(5, 45), bytes_from(200, 4)}));
    add("patched behind its end", patched(file(part(0, 10)), 13, {}, bytes_from(200, 4)),
        joined({part(0, 10), zero, bytes_from(200, 4)}));
    add("patched and short", patched(file(part(0, 2)), 8, bytes_from(100, 5), {}),
        joined({bytes_from(100, 5), zero}));
    add("called",
        source_of(form::Called{60, "called",
                               [b](std::uint64_t at, std::span<std::byte> out) {
                                 return MemorySource(b).read_at(at, out);
                               }}),
        b, false);
    const auto key = std::make_shared<PartitionKey>();
    const auto column = [](const std::vector<std::int64_t>& values) {
      return KeyColumn{in_memory(external(values, Type::kInt)), Type::kInt, values.size()};
    };
    EXPECT_TRUE(key->add(3, column({1})).ok() && key->add(5, column({7, 7, 9, 12})).ok());
    add("numbered", source_of(form::Numbered{key, 5, column({12, 7, 9})}),
        external({3, 1, 2}, Type::kInt64));
    // Two variables without records (the second is divided), then two records of two variables.
    LaidValues laid{"laid", 42, 22, 10, 10};
    laid.fixed = {{0, 8, 8, 1, {{file(b), 0, 1, 3, 8}}},
                  {10, 12, 2, 3, {{file(b), 0, 2, 20, 2, 4}, {spliced, 2, 1, 13, 2, 2}}}};
    laid.record = {{0, 4, 0, 0, {{file(b), 0, 1, 40, 4}, {in_memory(b), 1, 1, 44, 4}}},
                   {4, 6, 0, 0, {{file(b), 0, 2, 10, 6}}}};
    add("laid", source_of(std::make_shared<const LaidValues>(laid)),
        joined({part(3, 8), ByteVector(2), part(20, 4), part(30, 2), part(24, 4), part(32, 2),
                part(40, 4), part(10, 6), part(44, 4), part(16, 6)}));
    // A row of two tiles above a gap.
    const auto boxes = std::make_shared<TileBoxes>(TileBoxes{{2, 6}, {0, 0, 1, 4, 0, 3, 1, 3}});
    TiledValues tiles{boxes,
                      1,
                      {{file(b), 5, 0, 0}, {file(b), 30, 0, 1}},
                      source_of(form::Repeated{part(59, 1)}),
                      "tiles"};
    add("tiled", source_of(std::make_shared<const TiledValues>(tiles)),
        joined({part(5, 4), part(31, 2), part(59, 1), part(59, 1), part(59, 1), part(59, 1),
                part(59, 1), part(59, 1)}));
    add("late block", source_of(late(b, StoredOrigin{"in.nmb", "block", 17})), b);
    add("late view",
        source_of(late(
            b, ViewOrigin{"block", in_memory(part(0, 9)), file(b),
                          std::make_shared<DimensionLengths>(DimensionLengths{{"x", 3}}), "x"})),
        b);
    add("late values that stay", source_of(late(b, {})), b, false);
    return all;
  }

  static ByteVector read(const ByteSource& source, std::uint64_t at, std::uint64_t length) {
    ByteVector out(length, std::byte{0xEE});
    const Status status = source.read_at(at, out);
    EXPECT_TRUE(status.ok()) << status.text();
    return out;
  }
  static ByteVector cut(const ByteVector& bytes, std::uint64_t at, std::uint64_t length) {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(at),
            bytes.begin() + static_cast<std::ptrdiff_t>(at + length)};
  }

  // Sends the bytes of a range. Late values of the result read `late_bytes`.
  Result<Source> sent(const ByteSource& source, ByteRange wanted, const ByteVector& late_bytes) {
    const auto message = send_values(source, wanted);
    if (!message.ok()) return message.status();
    if (!*message) return Source();
    return rebuild_values(**message, {pool_, [&](const LateForm& one) {
                                        EXPECT_EQ(one.name, "late");
                                        EXPECT_EQ(one.size, late_bytes.size());
                                        return late(late_bytes, one.origin);
                                      }});
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<FilePool> pool_ = std::make_shared<FilePool>(100);
  int files_ = 0;
};

TEST_F(ValueSourceTest, EachKindIsReadWholeAndInParts) {
  std::set<std::size_t> kinds;
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.what);
    const KnownSource known = one.source->known();
    if (const auto* values = std::get_if<const ValueSource*>(&known))
      kinds.insert((*values)->form().index());
    ASSERT_EQ(one.source->size(), one.expected.size());
    EXPECT_EQ(read(*one.source, 0, one.expected.size()), one.expected);
    for (const std::uint64_t step : {1u, 2u, 3u, 7u})
      for (std::uint64_t at = 0; at + step <= one.expected.size(); ++at)
        ASSERT_EQ(read(*one.source, at, step), cut(one.expected, at, step)) << at << " " << step;
    EXPECT_EQ(read(*one.source, one.expected.size(), 0), ByteVector());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<SourceForm>) << "a kind has no case here";
}

TEST_F(ValueSourceTest, AnotherRankRebuildsEachKind) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.what);
    const std::uint64_t size = one.expected.size();
    const Result<Source> whole = sent(*one.source, {0, size}, one.expected);
    ASSERT_TRUE(whole.ok()) << whole.status().text();
    ASSERT_EQ(*whole != nullptr, one.travels);
    if (!one.travels) continue;
    ASSERT_EQ((*whole)->size(), size);
    EXPECT_EQ((*whole)->name(), one.source->name());
    EXPECT_EQ(read(**whole, 0, size), one.expected);
    // A third rank gets the same from the second.
    const Result<Source> again = sent(**whole, {0, size}, one.expected);
    ASSERT_TRUE(again.ok() && *again);
    EXPECT_EQ(read(**again, 0, size), one.expected);
    for (std::uint64_t from = 0; from < size; from += 3)
      for (std::uint64_t end = from + 1; end <= size; end += 4) {
        const Result<Source> part = sent(*one.source, {from, end}, one.expected);
        ASSERT_TRUE(part.ok() && *part);
        ASSERT_EQ((*part)->size(), size);
        ASSERT_EQ(read(**part, from, end - from), cut(one.expected, from, end - from))
            << from << " " << end;
      }
  }
}

TEST_F(ValueSourceTest, ASourceThatIsUsedTwiceIsSentOnce) {
  const Source one = in_memory(ByteVector(10000)), two = in_memory(ByteVector(10000));
  const auto size_of = [&](Source a, Source b) {
    const Source both = source_of(form::Spliced{
        {std::move(a), std::move(b)}, {{0, 10000, 0, 0}, {10000, 10000, 0, 1}}, 20000, "both"});
    return (*send_values(*both, {0, 20000}))->size();
  };
  EXPECT_GT(size_of(one, two), size_of(one, one) + 9000);
}

TEST_F(ValueSourceTest, ManyBytesOfATemporaryFileStay) {
  const std::uint64_t most = 16 << 20;
  const Source file = spool(ByteVector(most + 1));
  const auto spliced = [&](std::uint64_t length) {
    return source_of(form::Spliced{{file}, {{0, length, 0, 0}}, length, "spliced"});
  };
  EXPECT_TRUE((*send_values(*spliced(most), {0, most})).has_value());
  EXPECT_FALSE((*send_values(*spliced(most + 1), {0, most + 1})).has_value());
}

TEST_F(ValueSourceTest, AnIncompleteMessageIsDamage) {
  for (const Case& one : cases()) {
    if (!one.travels) continue;
    SCOPED_TRACE(one.what);
    const auto message = send_values(*one.source, {0, one.expected.size()});
    ASSERT_TRUE(message.ok() && *message);
    const auto late_too = [&](const LateForm& form) { return late(one.expected, form.origin); };
    for (std::size_t length = 0; length < (*message)->size(); ++length) {
      const Result<Source> rebuilt =
          rebuild_values(std::span(**message).first(length), {pool_, late_too});
      ASSERT_EQ(rebuilt.status().code(), Code::kDamaged) << length;
    }
  }
}

TEST_F(ValueSourceTest, AFileThatBecameShorterIsDamage) {
  const ByteVector bytes = bytes_from(0, 50);
  const auto message = send_values(*run_of(in_memory(bytes), 10, 60), {0, 60});
  ASSERT_TRUE(message.ok() && *message);
  const Result<Source> rebuilt = rebuild_values(**message, {pool_, nullptr});
  ASSERT_FALSE(rebuilt.ok());
  EXPECT_EQ(rebuilt.status().code(), Code::kDamaged);
}

TEST_F(ValueSourceTest, ReadsThatGoTooFarFail) {
  std::array<std::byte, 2> out;
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.what);
    EXPECT_FALSE(one.source->read_at(one.expected.size() - 1, out).ok());
  }
}

TEST_F(ValueSourceTest, APatchedFileHasItsPath) {
  const Source stored = file(bytes_from(0, 60));
  const Source once = patched(stored, 64, {}, bytes_from(200, 4));
  const Source twice = patched(once, once->size(), bytes_from(100, 5), {});
  ASSERT_NE(twice->path(), nullptr);
  EXPECT_EQ(*twice->path(), stored->name());
  EXPECT_EQ(run_of(stored, 5, 10)->path(), nullptr);
}

TEST_F(ValueSourceTest, StoredPartsLieInTheirFiles) {
  const ByteVector b = bytes_from(0, 60);
  const Source stored = file(b);
  const Source spliced = source_of(
      form::Spliced{{stored, in_memory(b)}, {{0, 10, 5, 0}, {13, 10, 30, 1}}, 30, "spliced"});
  std::string parts;
  ASSERT_TRUE(visit_stored(*run_of(spliced, 4, 20), {0, 20},
                           [&](const PooledFile* file, std::uint64_t at, std::uint64_t length) {
                             parts += file ? std::to_string(at) : "-";
                             parts += "+" + std::to_string(length) + " ";
                             return Status();
                           })
                  .ok());
  EXPECT_EQ(parts, "9+6 -+3 -+10 -+1 ");
}

}  // namespace
}  // namespace nmb
