// Blocks of kind 6 made by hand (see extended_file.h).
#include "extended_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "model/classic.h"
#include "sources/value_source.h"
#include "writer/file_writer.h"

namespace nmb::test {

namespace {

// Bytes that the source keeps.
void expect_ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.text(); }

}  // namespace

void ExtendedBlock::share() {
  metadata_.set_extension(std::make_shared<const Extension>(extension_));
}

Type ExtendedBlock::type(ExtendedType type) {
  const Result<Type> added = extension_.types.add(std::move(type));
  expect_ok(added.status());
  share();
  return added.ok() ? *added : Type::kByte;
}

VarId ExtendedBlock::add(std::string_view name, Type type,
                         const std::vector<std::uint64_t>& lengths,
                         std::span<const std::byte> bytes, bool grows) {
  std::vector<DimId> dimensions;
  for (const std::uint64_t length : lengths) {
    const auto id =
        metadata_.def_dim(std::string(name) + std::to_string(dimensions.size()), length);
    expect_ok(id.status());
    if (grows && dimensions.empty()) extension_.unlimited.push_back({*id, false});
    dimensions.push_back(*id);
  }
  share();
  const auto id = metadata_.def_var(name, type, dimensions);
  expect_ok(id.status());
  extent_.resize((extent_.size() + 7) / 8 * 8);
  metadata_.set_begin(*id, extent_.size());
  extent_.insert(extent_.end(), bytes.begin(), bytes.end());
  return *id;
}

VarId ExtendedBlock::variable(std::string_view name, Type type,
                              const std::vector<std::uint64_t>& lengths,
                              std::span<const std::byte> values, bool grows) {
  return add(name, type, lengths, values, grows);
}

VarId ExtendedBlock::stored(std::string_view name, Type type,
                            const std::vector<std::uint64_t>& lengths, Storage storage,
                            std::span<const std::byte> region, bool grows) {
  storage.variable = metadata_.variable_count();
  storage.region_length = region.size();
  extension_.storage.push_back(std::move(storage));
  return add(name, type, lengths, region, grows);
}

void ExtendedBlock::attribute(VarId owner, std::string_view name, Type type, std::uint64_t count,
                              std::span<const std::byte> values) {
  share();
  expect_ok(TypeTable::is_extended(type)
                ? metadata_.def_extended_att(owner, name, type, count, values)
                : metadata_.def_att(owner, name, type, values));
}

std::uint64_t ExtendedBlock::records() const {
  return extension_.unlimited.empty()
             ? 0
             : metadata_.dimension(extension_.unlimited.front().dimension).length;
}

std::vector<std::byte> ExtendedBlock::body() const {
  Extension extension = extension_;
  for (const hdf5::Property& p : properties_) hdf5::append_property(p, &extension.hdf5);
  Metadata metadata = metadata_;
  metadata.set_extension(std::make_shared<const Extension>(std::move(extension)));
  const auto body = encode_extended_body(metadata, 0);
  expect_ok(body.status());
  return body.ok() ? *body : std::vector<std::byte>();
}

void write_extended(const std::string& path, const std::vector<ExtendedBlock>& blocks) {
  FileWriterOptions options;
  options.sync = false;
  options.overwrite = true;
  auto writer = FileWriter::create(path, options);
  ASSERT_TRUE(writer.ok()) << writer.status().text();
  for (const ExtendedBlock& block : blocks) {
    PackedBlock packed;
    packed.name = block.name();
    packed.kind = Kind::kExtended;
    packed.dimensions = block.dimensions();
    packed.variables = block.variables();
    packed.attributes = block.attributes();
    packed.records = block.records();
    packed.body = owned_bytes(block.body(), "");
    packed.extent = owned_bytes(block.extent(), "");
    packed.extent_length = block.extent().size();
    expect_ok((*writer)->pack_block(std::move(packed)).status());
  }
  expect_ok((*writer)->end_define());
  expect_ok((*writer)->close());
}

}  // namespace nmb::test
