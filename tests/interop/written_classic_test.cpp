// The check that compares a netCDF-4 file with its classic source before the file gets its name.
// Each test changes the written file behind the back of the check.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "convert/convert.h"
#include "convert/write_cmip7.h"
#include "files/files.h"
#include "parallel/communicator.h"
#include "support/programs.h"

namespace nmb::test {
namespace {

namespace fs = std::filesystem;

void write_classic_file(const std::string& path) {
  write_file(path + ".cdl", R"(netcdf classic {
dimensions:
  time = UNLIMITED ;
  x = 3 ;
variables:
  double time(time) ;
    time:units = "days since 2000-1-1" ;
  short v(time, x) ;
    v:valid_range = 1s, 9s ;
    v:comment = "" ;
  :title = "a title" ;
data:
  time = 1, 2 ;
  v = 1, 2, 3, 4, 5, 6 ;
}
)");
  ASSERT_EQ(run("ncgen -3 -o " + shell_quoted(path) + " " + shell_quoted(path + ".cdl")).exit_code,
            0);
}

// Changes an object of an HDF5 file.
using Change = std::function<void(hid_t object)>;

void put_attribute(hid_t object, const char* name, hid_t type, const void* value) {
  H5Adelete(object, name);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, value), 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

void put_text(hid_t object, const char* name, const std::string& text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, text.size());
  put_attribute(object, name, type, text.data());
  H5Tclose(type);
}

// Converts a classic file. Before the check, applies `change` to `object` of the written file.
Status convert_with(const std::string& object, const Change& change) {
  const TemporaryFolder folder;
  const std::string from = (folder.path() / "in.nc").string();
  write_classic_file(from);
  const fs::path out = folder.path() / "out";
  fs::create_directory(out);
  NMB_ASSIGN(std::shared_ptr<const FileSource> file, FileSource::open(from));
  ExtractOptions options;
  options.sync = false;
  options.links_unchanged = [&]() -> Status {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    for (const auto& entry : fs::directory_iterator(out)) {
      const hid_t made = H5Fopen(entry.path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
      const hid_t changed = H5Oopen(made, object.c_str(), H5P_DEFAULT);
      EXPECT_GE(changed, 0);
      change(changed);
      H5Oclose(changed);
      H5Fclose(made);
    }
    return {};
  };
  Communicator alone;
  const Status status = write_cmip7(file, (out / "out.nc").string(), options, alone,
                                    [](const auto&) { return Status(); });
  EXPECT_EQ(fs::is_empty(out), !status.ok());
  return status;
}

void expect_found(const std::string& object, const std::string& what, const Change& change) {
  const Status status = convert_with(object, change);
  EXPECT_EQ(status.code(), Code::kDamaged) << status.text();
  EXPECT_NE(status.message().find("the written file differs from the source: block \"\": " + what),
            std::string::npos)
      << status.text();
}

TEST(WrittenClassic, EqualFilesAreEqual) {
  NMB_NEEDS_PROGRAM("ncgen");
  const Status status = convert_with("/", [](hid_t) {});
  EXPECT_TRUE(status.ok()) << status.text();
}

TEST(WrittenClassic, ChangedAttributesAreFound) {
  NMB_NEEDS_PROGRAM("ncgen");
  expect_found("/", "attribute \":title\": found value \"b title\", expected \"a title\"",
               [](hid_t root) { put_text(root, "title", "b title"); });
  expect_found("/time", "attribute \"time:units\": found value \"days since 2000-1-2\", expected",
               [](hid_t time) { put_text(time, "units", "days since 2000-1-2"); });
  expect_found("/v", "attribute \"v:valid_range\": found type int, expected short", [](hid_t v) {
    const int number = 1;
    put_attribute(v, "valid_range", H5T_NATIVE_INT, &number);
  });
  // netCDF-C writes an empty text as one NUL.
  expect_found("/v", "attribute \"v:comment\": found value \" \", expected \"\\x00\"",
               [](hid_t v) { put_text(v, "comment", " "); });
}

TEST(WrittenClassic, MissingAndAddedAttributesAreFound) {
  NMB_NEEDS_PROGRAM("ncgen");
  expect_found("/v", "attribute \"v:valid_range\" is missing",
               [](hid_t v) { H5Adelete(v, "valid_range"); });
  expect_found("/v", "attribute \"v:added\" is not in the source",
               [](hid_t v) { put_text(v, "added", "text"); });
  expect_found("/v", "attribute \"v:renamed\" is not in the source",
               [](hid_t v) { H5Arename(v, "valid_range", "renamed"); });
}

TEST(WrittenClassic, AddedVariablesAreFound) {
  NMB_NEEDS_PROGRAM("ncgen");
  expect_found("/", "variable \"w\" is not in the source", [](hid_t root) {
    const hid_t space = H5Screate(H5S_SCALAR);
    H5Dclose(H5Dcreate2(root, "w", H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  });
}

}  // namespace
}  // namespace nmb::test
