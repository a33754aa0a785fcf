// Which launcher started a process, and which plug-ins are refused, without any MPI.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "parallel/communicator.h"

namespace nmb {
namespace {

constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK",  "PMI_SIZE",
                                      "MPI_LOCALNRANKS",      "PMIX_RANK", "NMB_PLUGIN_PATH",
                                      "SLURM_STEP_NUM_TASKS"};

class MpiRanks : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : kVariables) unsetenv(variable);
  }
  void TearDown() override { SetUp(); }
};

std::optional<MpiLibrary> launched_with(const char* variable, const char* value) {
  setenv(variable, value, 1);
  const auto library = launched_by();
  unsetenv(variable);
  return library;
}

TEST_F(MpiRanks, TellsLaunchersByTheirVariables) {
  EXPECT_EQ(launched_by(), std::nullopt);
  EXPECT_EQ(launched_with("OMPI_COMM_WORLD_SIZE", "4"), MpiLibrary::kOpenMpi);
  EXPECT_EQ(launched_with("PMIX_RANK", "0"), MpiLibrary::kOpenMpi);
  EXPECT_EQ(launched_with("PMI_RANK", "0"), MpiLibrary::kMpich);
  EXPECT_EQ(launched_with("PMI_SIZE", "4"), MpiLibrary::kMpich);
  EXPECT_EQ(launched_with("MPI_LOCALNRANKS", "4"), MpiLibrary::kMpich);
  EXPECT_EQ(launched_with("SLURM_STEP_NUM_TASKS", "4"), MpiLibrary::kMpich);
  EXPECT_EQ(launched_with("SLURM_STEP_NUM_TASKS", "1"), std::nullopt);
  // Open MPI's launcher sets PMIX_RANK too, and may itself run under another.
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_EQ(launched_with("PMI_RANK", "0"), MpiLibrary::kOpenMpi);
}

Status open_with(const std::string& path, MpiLibrary library) {
  setenv("NMB_PLUGIN_PATH", path.c_str(), 1);
  return open_mpi_ranks(library).status();
}

TEST_F(MpiRanks, SaysWherePluginsWereLookedFor) {
  const Status status = open_with("/nowhere:/nowhere/else", MpiLibrary::kOpenMpi);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_EQ(status.text(),
            "found no plug-in for Open MPI, expected one of /nowhere/nmb-mpi-openmpi.so, "
            "/nowhere/else/nmb-mpi-openmpi.so");
  const Status mpich = open_with("/nowhere", MpiLibrary::kMpich);
  EXPECT_EQ(mpich.text(), "found no plug-in for MPICH, expected one of /nowhere/nmb-mpi-mpich.so");
  EXPECT_EQ(open_with("", MpiLibrary::kMpich).code(), Code::kUnsupported);
}

TEST_F(MpiRanks, RefusesAPluginOfAnotherBuild) {
  const Status status = open_with(NMB_OTHER_BUILD, MpiLibrary::kOpenMpi);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.text().find("nmb-mpi-openmpi.so: found build 0000000000000011, expected"),
            std::string::npos)
      << status.text();
}

}  // namespace
}  // namespace nmb
