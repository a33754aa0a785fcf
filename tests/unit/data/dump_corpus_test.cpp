// Real classic files: CDL goes through ncgen and comes back the same, by ncdump and by value.
#include <gtest/gtest.h>

#include <regex>

#include "dump/dump.h"
#include "support/corpus.h"
#include "support/dataset.h"
#include "support/programs.h"

namespace nmb {
namespace {

using test::run;
using test::shell_quoted;

std::string ncgen_kind(Kind kind) {
  return kind == Kind::kCdf1 ? "classic" : kind == Kind::kCdf2 ? "64-bit offset" : "cdf5";
}

// Lines behind the first, which holds the name.
std::string without_name(const std::string& cdl) { return cdl.substr(cdl.find('\n') + 1); }

std::string without_record_count(const std::string& cdl) {
  static const std::regex kCount("// \\([0-9]+ currently\\)");
  return std::regex_replace(cdl, kCount, "");
}

// ncgen 4.9.0 makes variables of int64 variables of int.
bool has_int64_variables(const Metadata& metadata) {
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    if (metadata.variable(v).type == Type::kInt64) return true;
  return false;
}

// Every classic file below classic/ and split/ that decodes and that ncdump reads.
template <class Check>
void for_each_file(Check check) {
  std::size_t files = 0;
  for (const char* folder : {"classic", "split"})
    for (const auto& path : test::corpus_files(folder)) {
      const auto dataset = test::parse_dataset(test::read_file(path));
      if (!dataset.ok() || has_int64_variables(dataset->metadata)) continue;
      SCOPED_TRACE(path.string());
      check(path, *dataset);
      ++files;
    }
  EXPECT_GE(files, 50u);
}

TEST(DumpCorpus, HeadersComeBackThroughNcgen) {
  NMB_NEEDS_CORPUS();
  NMB_NEEDS_PROGRAM("ncgen");
  NMB_NEEDS_PROGRAM("ncdump");
  const test::TemporaryFolder folder;
  const auto cdl = folder.path() / "a.cdl", made = folder.path() / "a.nc";
  for_each_file([&](const std::filesystem::path& path, const test::ClassicDataset& dataset) {
    test::write_file(cdl, test::text_of([&](const TextSink& sink) {
                       return write_cdl_header(dataset.text("a"), sink);
                     }));
    const auto ncgen = run("ncgen -k " + shell_quoted(ncgen_kind(dataset.layout.kind)) + " -o " +
                           shell_quoted(made.string()) + " " + shell_quoted(cdl.string()));
    ASSERT_EQ(ncgen.exit_code, 0) << ncgen.output;
    const auto found = run("ncdump -h " + shell_quoted(made.string()));
    const auto expected = run("ncdump -h " + shell_quoted(path.string()));
    ASSERT_EQ(expected.exit_code, 0) << expected.output;
    EXPECT_EQ(without_record_count(without_name(found.output)),
              without_record_count(without_name(expected.output)));
  });
}

bool is_nan(Type type, const std::byte* value) {
  double real = 0;
  if (type != Type::kFloat && type != Type::kDouble) return false;
  convert_from_external(type, value, 1, MemoryType::kDouble, &real);
  return real != real;
}

// The values of a variable in external form, NaN without its payload.
std::vector<std::byte> comparable_values(const test::ClassicDataset& dataset, VarId id) {
  const Type type = dataset.metadata.variable(id).type;
  std::vector<std::byte> out = test::values_of(dataset, id);
  for (std::size_t i = 0; i < out.size(); i += type_size(type))
    if (is_nan(type, &out[i])) std::fill_n(&out[i], type_size(type), std::byte{0xff});
  return out;
}

TEST(DumpCorpus, ValuesComeBackThroughNcgen) {
  NMB_NEEDS_CORPUS();
  NMB_NEEDS_PROGRAM("ncgen");
  const test::TemporaryFolder folder;
  const auto cdl = folder.path() / "a.cdl", made = folder.path() / "a.nc";
  for_each_file([&](const std::filesystem::path&, const test::ClassicDataset& dataset) {
    const Status written = [&] {
      std::string text;
      const Status status = write_cdl(dataset.text("a"), dataset.layout, dataset.extent(),
                                      std::nullopt, [&](std::string_view part) {
                                        text += part;
                                        return Status();
                                      });
      test::write_file(cdl, text);
      return status;
    }();
    ASSERT_TRUE(written.ok()) << written.text();
    const auto ncgen = run("ncgen -k " + shell_quoted(ncgen_kind(dataset.layout.kind)) + " -o " +
                           shell_quoted(made.string()) + " " + shell_quoted(cdl.string()));
    ASSERT_EQ(ncgen.exit_code, 0) << ncgen.output;
    const auto back = test::parse_dataset(test::read_file(made));
    ASSERT_TRUE(back.ok()) << back.status().text();
    ASSERT_EQ(back->metadata.variable_count(), dataset.metadata.variable_count());
    for (VarId v = 0; v < dataset.metadata.variable_count(); ++v)
      EXPECT_EQ(comparable_values(*back, v), comparable_values(dataset, v))
          << dataset.metadata.variable(v).name;
  });
}

TEST(DumpCorpus, JsonIsJson) {
  NMB_NEEDS_CORPUS();
  NMB_NEEDS_PROGRAM("python3");
  const test::TemporaryFolder folder;
  for_each_file([&](const std::filesystem::path& path, const test::ClassicDataset& dataset) {
    test::write_file(folder.path() / (std::to_string(hash_value(path)) + ".json"),
                     test::text_of([&](const TextSink& sink) {
                       return write_json_header(dataset.text("a"), sink);
                     }));
  });
  const auto result =
      run("python3 -c 'import glob,json,sys\n"
          "for f in glob.glob(sys.argv[1] + \"/*.json\"):\n"
          "  d = json.load(open(f, encoding=\"utf-8\"))\n"
          "  assert list(d) == [\"schema\", \"name\", \"kind\", \"records\", \"dimensions\", "
          "\"attributes\", \"variables\"]\n' " +
          shell_quoted(folder.path().string()));
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

}  // namespace
}  // namespace nmb
