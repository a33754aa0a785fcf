// The numbers of PnetCDF's interface: error codes, types, modes and flags, as its documentation
// lists them. PnetCDF's own header is not needed to build this.
#pragma once

namespace nmb::pnetcdf {

// Errors.
namespace code {
inline constexpr int kOk = 0, kBadId = -33, kTooManyFiles = -34, kExists = -35, kInvalid = -36,
                     kReadOnly = -37, kNotInDefine = -38, kInDefine = -39, kInvalidCoords = -40,
                     kMaxDims = -41, kNameInUse = -42, kNotAtt = -43, kMaxAtts = -44,
                     kBadType = -45, kBadDim = -46, kUnlimitedPosition = -47, kMaxVars = -48,
                     kNotVar = -49, kGlobalId = -50, kNotNetcdf = -51, kMaxName = -53,
                     kUnlimitedInUse = -54, kChar = -56, kEdge = -57, kStride = -58, kBadName = -59,
                     kRange = -60, kNoMemory = -61, kVarSize = -62, kDimSize = -63, kAccess = -77,
                     kLateFill = -122, kNotBuilt = -128, kMpi = -131;
inline constexpr int kNotIndependent = -202, kIndependent = -203, kFile = -204, kRead = -205,
                     kWrite = -206, kMultiTypes = -208, kMismatch = -209, kNegativeCount = -210,
                     kUnsupportedType = -211, kInvalidRequest = -212, kNotSupported = -214,
                     kNullBuffer = -215, kBufferAttached = -216, kNoBuffer = -217,
                     kPendingBuffered = -218, kBufferTooSmall = -219, kNoEntry = -220,
                     kIntOverflow = -221, kNotEnabled = -222, kBadFile = -223, kNoSpace = -224,
                     kNullStart = -226, kInvalidCreateMode = -228, kTypeSize = -229,
                     kTypeMismatch = -230, kTypeSizeMismatch = -231, kStrictCdf2 = -232,
                     kNotRecordVar = -233, kNotFill = -234, kInvalidOpenMode = -235,
                     kPending = -236;
inline constexpr int kDiffer = -250, kDifferOpenMode = -251, kDifferDimSize = -253,
                     kDifferDimName = -254, kDifferVarName = -256, kDifferVarDims = -257,
                     kDifferVarDimIds = -258, kDifferVarType = -259, kDifferAttName = -265,
                     kDifferAttType = -266, kDifferAttLength = -267, kDifferAttValue = -268,
                     kDifferArguments = -269, kDifferFillMode = -270, kDifferFillValue = -272,
                     kDifferCreateMode = -273;
}  // namespace code

// External types, which have the numbers of nmb::Type.
inline constexpr int kCharType = 2, kDoubleType = 6, kLastType = 11;

// Formats of a file and flags of a mode.
inline constexpr int kFormatClassic = 1, kFormatOffset = 2, kFormatNetcdf4 = 3,
                     kFormatNetcdf4Classic = 4, kFormatData = 5;
inline constexpr int kModeWrite = 0x0001, kModeNoClobber = 0x0004, kModeDiskless = 0x0008,
                     kModeMmap = 0x0010, kModeData = 0x0020, kModeClassic = 0x0100,
                     kModeOffset = 0x0200, kModeNetcdf4 = 0x1000;

inline constexpr int kGlobalVariable = -1;
inline constexpr int kFill = 0, kNoFill = 0x100;
inline constexpr int kNullRequest = -1, kAllRequests = -1, kAllGets = -2, kAllPuts = -3;
inline constexpr int kCountIgnore = -1;
inline constexpr int kLongestName = 256;

}  // namespace nmb::pnetcdf
