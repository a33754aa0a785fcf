// consumer write FILE.nmb | read FILE.h5 | ranks: what an installed libnmb does for a program. It
// writes a file, reads HDF5 by nmb-hdf5, and joins the processes of an MPI job by a plug-in.
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/hdf5.h"
#include "files/files.h"
#include "parallel/communicator.h"
#include "wire/bytes.h"
#include "writer/file_writer.h"

namespace {

nmb::Status write(const std::string& path) {
  nmb::FileWriterOptions options;
  options.overwrite = true;
  NMB_ASSIGN(const std::unique_ptr<nmb::FileWriter> writer, nmb::FileWriter::create(path, options));
  NMB_ASSIGN(const nmb::BlockId block, writer->define_block("a"));
  NMB_ASSIGN(const nmb::DimId x, writer->def_dim(block, "x", 3));
  NMB_ASSIGN(const nmb::VarId v, writer->def_var(block, "v", nmb::Type::kInt, std::span(&x, 1)));
  NMB_TRY(writer->end_define());
  const int values[] = {1, 2, 3};
  NMB_TRY(writer->put(block, v, std::span<const int>(values)));
  return writer->close();
}

// A program makes sources of its own bytes. With a shared library, this needs their virtual tables.
nmb::Status read_memory() {
  const std::vector<std::byte> bytes(16);
  const auto memory = std::make_shared<nmb::MemorySource>(bytes);
  const nmb::ByteSourceLayer layer(memory);
  std::vector<std::byte> out(8);
  return layer.read_at(8, out);
}

nmb::Status read(const std::string& path) {
  NMB_TRY(read_memory());
  NMB_ASSIGN(std::shared_ptr<const nmb::ByteSource> file, nmb::FileSource::open(path));
  NMB_ASSIGN(const std::vector<std::shared_ptr<const nmb::LoadedBlock>> blocks,
             nmb::open_hdf5(file));
  for (const std::shared_ptr<const nmb::LoadedBlock>& block : blocks) {
    const std::optional<nmb::VarId> v = block->metadata.find_variable("v");
    if (!v) continue;
    NMB_ASSIGN(const std::vector<int> values, block->read_all<int>(*v));
    std::printf("%s/v:", block->entry.name.c_str());
    for (const int value : values) std::printf(" %d", value);
    std::printf("\n");
  }
  return {};
}

nmb::Status count_ranks() {
  const std::optional<nmb::MpiLibrary> launcher = nmb::launched_by();
  if (!launcher) return nmb::Status(nmb::Code::kUsage, "ranks needs mpiexec");
  NMB_ASSIGN(const std::unique_ptr<nmb::Communicator> ranks, nmb::open_mpi_ranks(*launcher));
  NMB_TRY(ranks->barrier());
  if (ranks->rank() == 0) std::printf("%d ranks\n", ranks->size());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::string path = argc > 2 ? argv[2] : "";
  const nmb::Status status = what == "write"  ? write(path)
                             : what == "read" ? read(path)
                                              : count_ranks();
  if (!status.ok()) std::fprintf(stderr, "consumer: %s\n", status.text().c_str());
  return status.ok() ? 0 : 1;
}
