// Random datasets through CDL and ncgen: types, attributes and values come back bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "dump/dump.h"
#include "support/corpus.h"
#include "support/dataset.h"
#include "support/programs.h"

namespace nmb {
namespace {

class RandomDataset {
 public:
  explicit RandomDataset(std::uint64_t seed) : random_(seed) {}

  test::ClassicDataset make() {
    Metadata m;
    const DimId time = *m.def_dim("time", kUnlimited);
    const DimId x = *m.def_dim("x y", 1 + below(7));
    const DimId y = *m.def_dim("7up", 1 + below(4));
    const std::vector<DimId> shapes[] = {{}, {x}, {time}, {time, x}, {y, x}, {time, y, x}};
    put_attributes(&m, kGlobal);
    for (int v = 0; v < 12; ++v) {
      const Type type = random_type();
      // ncgen 4.9.0 makes variables of int64 variables of int.
      if (type == Type::kInt64) continue;
      const VarId id = *m.def_var("v:" + std::to_string(v), type, shapes[below(6)]);
      if (below(2) == 0) {
        const auto value = random_values(type, 1);
        EXPECT_TRUE(m.put_att(id, "_FillValue", type, value).ok());
      }
      put_attributes(&m, id);
    }
    // Records are told by the values of a variable.
    *m.def_var("time", Type::kInt, std::vector{time});
    test::ClassicDataset out = test::make_dataset(std::move(m), Kind::kCdf5, below(5));
    for (VarId v = 0; v < out.metadata.variable_count(); ++v) set_values(&out, v);
    return out;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  Type random_type() { return static_cast<Type>(1 + below(11)); }

  // Any bits but NaN's, whose payload CDL cannot hold.
  std::vector<std::byte> random_values(Type type, std::uint64_t count) {
    std::vector<std::byte> bytes(count * type_size(type));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_());
    for (std::size_t i = 0; i < bytes.size() && below(2) == 0; ++i)
      bytes[i] = std::byte{type == Type::kChar ? std::uint8_t{0} : std::uint8_t{0x80}};
    if (type != Type::kFloat && type != Type::kDouble) return bytes;
    for (std::size_t i = 0; i < bytes.size(); i += type_size(type))
      if ((bytes[i] | std::byte{0x80}) == std::byte{0xff}) bytes[i] = std::byte{0x3f};
    return bytes;
  }

  void put_attributes(Metadata* m, VarId owner) {
    for (std::uint64_t n = below(5); n > 0; --n) {
      const Type type = random_type();
      EXPECT_TRUE(
          m->put_att(owner, "a" + std::to_string(n), type, random_values(type, 1 + below(6))).ok());
    }
  }

  void set_values(test::ClassicDataset* dataset, VarId id) {
    const Type type = dataset->metadata.variable(id).type;
    test::for_each_part(*dataset, id, [&](std::uint64_t offset, std::uint64_t count) {
      if (below(4) == 0) return;  // fill values
      const auto values = random_values(type, count);
      std::copy(values.begin(), values.end(),
                dataset->values.begin() + static_cast<std::ptrdiff_t>(offset));
    });
  }

  std::mt19937_64 random_;
};

using Bytes = std::vector<std::byte>;

std::vector<std::pair<std::string, Bytes>> attributes_of(const Metadata& m, VarId owner) {
  std::vector<std::pair<std::string, Bytes>> out;
  m.for_each_attribute(owner, [&](const Attribute& a) {
    out.emplace_back(std::string(a.name) + " " + std::string(type_name(a.type)),
                     Bytes(a.values.begin(), a.values.end()));
  });
  return out;
}

TEST(CdlRoundTrip, ThroughNcgen) {
  NMB_NEEDS_PROGRAM("ncgen");
  const test::TemporaryFolder folder;
  const auto cdl = folder.path() / "a.cdl", made = folder.path() / "a.nc";
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const test::ClassicDataset dataset = RandomDataset(seed).make();
    const std::string text = test::text_of([&](const TextSink& sink) {
      return write_cdl(dataset.text("a"), dataset.layout, dataset.extent(), std::nullopt, sink);
    });
    test::write_file(cdl, text);
    const auto ncgen = test::run("ncgen -k cdf5 -o " + test::shell_quoted(made.string()) + " " +
                                 test::shell_quoted(cdl.string()));
    ASSERT_EQ(ncgen.exit_code, 0) << "seed " << seed << "\n" << ncgen.output << text;
    const auto back = test::parse_dataset(test::read_file(made));
    ASSERT_TRUE(back.ok()) << back.status().text();
    const Metadata &a = dataset.metadata, &b = back->metadata;
    ASSERT_EQ(back->layout.records, dataset.layout.records) << "seed " << seed << "\n" << text;
    ASSERT_EQ(attributes_of(b, kGlobal), attributes_of(a, kGlobal)) << "seed " << seed;
    ASSERT_EQ(b.variable_count(), a.variable_count());
    for (VarId v = 0; v < a.variable_count(); ++v) {
      ASSERT_EQ(b.variable(v).name, a.variable(v).name);
      ASSERT_EQ(b.variable(v).type, a.variable(v).type);
      ASSERT_EQ(attributes_of(b, v), attributes_of(a, v)) << "seed " << seed;
      ASSERT_EQ(test::values_of(*back, v), test::values_of(dataset, v))
          << "seed " << seed << ", " << a.variable(v).name << "\n"
          << text;
    }
  }
}

}  // namespace
}  // namespace nmb
