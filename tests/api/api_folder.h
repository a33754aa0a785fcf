// A folder of its own for each test. Tests of tests/api see what programs see: the headers of
// include/nmb alone.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "nmb/error.h"

namespace nmb::test {

class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    const std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() +
        std::string(".") + testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("nmb_api_" + name + "." + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ApiTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name = "f.nmb") const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

// Returns the code of the Error that `work` throws, or kOk.
template <class Work>
Code code_of(Work work) {
  return caught(work).code();
}

}  // namespace nmb::test
