// Classic blocks that nmb-hdf5 exports, as netCDF-C sees them.
#include <gtest/gtest.h>

#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

Status write_blocks(const std::string& path) {
  FileWriterOptions options;
  options.sync = false;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, options));
  NMB_TRY(writer->def_dim("time", kUnlimited).status());
  NMB_ASSIGN(const auto x, writer->def_dim("x", 2));
  const std::string_view over_time[] = {"time"}, both[] = {"time", "x"}, text[] = {"x"};
  NMB_ASSIGN(const auto time, writer->def_var("time", Type::kDouble, over_time));
  NMB_ASSIGN(const auto v, writer->def_var("v", Type::kShort, both));
  NMB_ASSIGN(const auto c, writer->def_var("c", Type::kChar, text));
  NMB_TRY(writer->def_dim("m", 2).status());
  const std::string_view wide[] = {"m", "x"};
  NMB_ASSIGN(const auto m, writer->def_var("m", Type::kByte, wide));
  NMB_TRY(writer->put_att_text(time.block, time.id, "units", "days since 2000-1-1"));
  const std::vector<std::int32_t> numbers = {1, 2};
  NMB_TRY(writer->put_att(x.block, kGlobal, "n", Type::kInt, std::span(numbers)));
  NMB_TRY(writer->def_dim("g/y", 3).status());
  const std::string_view over_y[] = {"y"};
  NMB_ASSIGN(const auto w, writer->def_var("g/w", Type::kFloat, over_y));
  NMB_TRY(writer->end_define());
  const std::vector<std::int8_t> bytes = {5, 6, 7, 8};
  const std::vector<double> times = {0.5, 1.5};
  const std::vector<std::int16_t> values = {1, 2, 3, 4};
  const std::vector<float> floats = {1, 2, 4};
  const std::vector<char> letters = {'a', 'b'};
  NMB_TRY(writer->put(m.block, m.id, std::span(bytes)));
  NMB_TRY(writer->put(time.block, time.id, std::span(times)));
  NMB_TRY(writer->put(v.block, v.id, std::span(values)));
  NMB_TRY(writer->put(c.block, c.id, std::span(letters)));
  NMB_TRY(writer->put(w.block, w.id, std::span(floats)));
  return writer->close();
}

TEST(NetcdfExport, ClassicBlocksAreNetcdf4Groups) {
  NMB_NEEDS_PROGRAM("ncdump");
  const TemporaryFolder folder;
  const std::string from = (folder.path() / "f.nmb").string(),
                    to = (folder.path() / "f.nc").string();
  const Status written = write_blocks(from);
  ASSERT_TRUE(written.ok()) << written.text();
  const ProgramResult made = run(shell_quoted(NMB_HDF5) + " export " + shell_quoted(from) + " " +
                                 shell_quoted(to) + " 0 0 0 '' 2");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  EXPECT_EQ(run("ncdump " + shell_quoted(to)).output, R"(netcdf f {
dimensions:
	time = UNLIMITED ; // (2 currently)
	x = 2 ;
	m = 2 ;
variables:
	double time(time) ;
		time:units = "days since 2000-1-1" ;
	short v(time, x) ;
	char c(x) ;
	byte m(m, x) ;

// global attributes:
		:n = 1, 2 ;
data:

 time = 0.5, 1.5 ;

 v =
  1, 2,
  3, 4 ;

 c = "ab" ;

 m =
  5, 6,
  7, 8 ;

group: g {
  dimensions:
  	y = 3 ;
  variables:
  	float w(y) ;
  data:

   w = 1, 2, 4 ;
  } // group g
}
)");
}

}  // namespace
}  // namespace nmb::test
