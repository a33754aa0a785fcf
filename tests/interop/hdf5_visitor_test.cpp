// Failures within callbacks of HDF5's iterations.
#include "import/hdf5_visitor.h"

#include <gtest/gtest.h>

#include <string>

#include "handle.h"

namespace nmb::hdf5 {
namespace {

class Hdf5VisitorTest : public testing::Test {
 protected:
  Hdf5VisitorTest() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_core(access.get(), 4096, false);
    file_ = Handle(H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    for (const char* name : {"a", "b", "c"})
      EXPECT_TRUE(
          Handle(H5Gcreate2(file_.get(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)).ok());
  }

  // Goes over the links: `visit` gets their names, which are added to seen_.
  Status iterate(const std::function<Status(const std::string& name)>& visit) {
    Hdf5Visitor<hid_t, const char*, const H5L_info_t*> visitor(
        [&](hid_t, const char* name, const H5L_info_t*) -> Status {
          seen_ += name;
          return visit(name);
        });
    hsize_t at = 0;
    const herr_t visited =
        H5Literate(file_.get(), H5_INDEX_NAME, H5_ITER_INC, &at, visitor.call, &visitor);
    EXPECT_EQ(visited < 0, !visitor.status().ok());
    return visitor.status();
  }

  Handle file_;
  std::string seen_;
};

TEST_F(Hdf5VisitorTest, VisitsAll) {
  EXPECT_TRUE(iterate([](const std::string&) { return Status(); }).ok());
  EXPECT_EQ(seen_, "abc");
}

TEST_F(Hdf5VisitorTest, EndsWithTheFirstFailure) {
  const Status status = iterate([](const std::string& name) {
    return name == "b" ? Status(Code::kUnsupported, "not this one") : Status();
  });
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_EQ(status.message(), "not this one");
  EXPECT_EQ(seen_, "ab");
}

TEST_F(Hdf5VisitorTest, EndsWithoutMemory) {
  const Status status = iterate([](const std::string& name) -> Status {
    if (name == "b") throw std::bad_alloc();
    return {};
  });
  EXPECT_EQ(status.code(), Code::kLimit);
  EXPECT_EQ(status.message(), "out of memory");
  EXPECT_EQ(seen_, "ab");
}

}  // namespace
}  // namespace nmb::hdf5
