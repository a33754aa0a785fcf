// change_blocks FILE remove NAME | rename NAME NEW: a commit that no tool makes, for
// tests/cli/histories.py.
#include <cstdio>
#include <string>

#include "writer/file_writer.h"

using namespace nmb;

static Status change(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  if (argc != (what == "rename" ? 5 : 4) || (what != "rename" && what != "remove"))
    return Status(Code::kUsage, "change_blocks FILE remove NAME | rename NAME NEW");
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::open(argv[1], {}));
  NMB_ASSIGN(const BlockId block, writer->find_block(argv[3]));
  NMB_TRY(what == "rename" ? writer->rename_block(block, argv[4]) : writer->remove_block(block));
  return writer->close();
}

int main(int argc, char** argv) {
  const Status status = change(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "change_blocks: %s\n", status.text().c_str());
  return status.ok() ? 0 : 2;
}
