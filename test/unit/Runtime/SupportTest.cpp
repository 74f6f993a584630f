// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files and folders: what is written is there whole, what cannot be done is
// an error that names the path and leaves all as it was.

#include "Progress.h"
#include "TestPlan.h"
#include "colrow/runtime/Support/AtomicFile.h"
#include "colrow/runtime/Support/FileIdentity.h"
#include "colrow/runtime/Support/Folder.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

/// Pieces that do and do not fit into what is kept in memory, in any order.
TEST(AtomicFile, PiecesOfAnySizeComeInOrder) {
  constexpr size_t room = 1 << 20;
  TempFolder folder;
  for (const std::vector<size_t> &sizes : {std::vector<size_t>{0},
                                           {room},
                                           {room + 1},
                                           {room - 1, 1, 1},
                                           {room, 5},
                                           {7, room - 1, 3},
                                           {7, room, 3},
                                           {7, 2 * room + 1, room, 3}}) {
    std::string want;
    auto file = take(AtomicFile::create(folder / "f"));
    for (size_t i = 0; i < sizes.size(); ++i) {
      std::string piece(sizes[i], char('a' + i));
      EXPECT_EQ(textOf(file->write(piece)), "");
      want += piece;
    }
    EXPECT_EQ(textOf(file->commit()), "");
    EXPECT_TRUE(readFile(folder / "f") == want) << sizes.size() << " pieces";
  }
}

/// A write that failed cannot be followed by a file that looks whole.
TEST(AtomicFile, NothingAppearsAfterAFailedWrite) {
  auto full = take(AtomicFile::create("/dev/full"));
  EXPECT_EQ(textOf(full->write(std::string(2 << 20, 'x'))),
            "/dev/full: cannot write: No space left on device");
  EXPECT_EQ(textOf(full->commit()), "/dev/full: an earlier write failed");
  EXPECT_EQ(textOf(writeFileAtomically("/dev/full", "x")),
            "/dev/full: cannot write: No space left on device");
}

TEST(AtomicFile, WhatCannotBeWrittenIsNamed) {
  TempFolder folder;
  EXPECT_EQ(textOf(writeFileAtomically(folder.path, "x")),
            folder.path + ": cannot write: it is a folder");
  EXPECT_EQ(textOf(writeFileAtomically(folder / "nowhere/f", "x")),
            folder / "nowhere/f: cannot create: No such file or directory");
  Folder inside = take(Folder::open(folder.path));
  ASSERT_EQ(textOf(writeFileIn(inside, "f", "x")), "");
  EXPECT_EQ(textOf(writeFileIn(inside, "f", "y")),
            folder / "f: cannot create: File exists");
  EXPECT_EQ(readFile(folder / "f"), "x");
  // A folder that comes in between is not replaced, and nothing else is left.
  auto file = take(AtomicFile::create(folder / "g"));
  ASSERT_FALSE(sys::fs::create_directories(folder / "g/h"));
  EXPECT_HAS(textOf(file->commit()), "g: cannot rename: ");
  file.reset();
  EXPECT_EQ(take(inside.names()).size(), 2u);
}

/// Each step of work on a folder that cannot be done, one after the other.
TEST(Folder, EveryFailureNamesTheEntry) {
  TempFolder temporary;
  EXPECT_HAS(textOf(Folder::open(temporary / "nowhere")),
             "nowhere: cannot open folder: No such file or directory");
  ASSERT_FALSE(sys::fs::create_directories(temporary / "full/inner"));
  writeFile(temporary / "file", "a");
  writeFile(temporary / "other", "b");
  Folder folder = take(Folder::open(temporary.path));
  ASSERT_EQ(textOf(folder.link("file", "link")), "");
  ASSERT_EQ(textOf(folder.link("full", "way")), "");
  auto says = [&](Error error, const char *text) {
    std::string said = textOf(std::move(error));
    EXPECT_HAS(said, temporary / text);
  };
  says(folder.enter("nowhere").takeError(), "nowhere: cannot open folder: ");
  says(folder.enter("file").takeError(), "file: cannot open folder: ");
  says(folder.enter("way").takeError(), "way: cannot open folder: ");
  says(folder.create("full").takeError(), "full: cannot create folder: ");
  says(folder.link("x", "file"), "file: cannot link: ");
  says(folder.renameNew("nowhere", "new"), "nowhere: cannot rename: ");
  says(folder.renameNew("file", "other"), "file: cannot rename: ");
  says(folder.replace("nowhere", folder, "new"), "new: cannot replace: ");
  says(folder.replace("file", folder, "full"), "full: cannot replace: ");
  says(folder.remove("nowhere"), "nowhere: cannot remove: ");
  says(folder.remove("full"), "full: cannot remove: ");
  says(folder.removeEmptyFolder("full"), "full: cannot remove folder: ");
  says(folder.removeEmptyFolder("file"), "file: cannot remove folder: ");
  EXPECT_EQ(readFile(temporary / "file"), "a");
  EXPECT_EQ(readFile(temporary / "other"), "b");
  EXPECT_EQ(folder.kindOf("full"), EntryKind::folder);
  EXPECT_EQ(folder.kindOf("link"), EntryKind::link);
  EXPECT_EQ(folder.kindOf("file/x"), EntryKind::other) << "cannot be looked at";
}

/// Two spellings of a path that nothing stands at yet are one file.
TEST(FileIdentity, NewFilesAreToldByFolderAndName) {
  TempFolder folder;
  std::string path = folder / "new";
  EXPECT_TRUE(identityOf(path) == identityOf(path + "/"));
  EXPECT_TRUE(identityOf(path) == identityOf(folder / "./new"));
  EXPECT_FALSE(identityOf(path) == identityOf(folder / "other"));
  EXPECT_TRUE(identityOf("new-file-of-no-test") ==
              identityOf("./new-file-of-no-test"));
  EXPECT_FALSE(identityOf(folder / "nowhere/new"));
  EXPECT_FALSE(identityOf(""));
}

/// The command lines that LLVM's tools take.
TEST(FileIdentity, OutputsOverInputsAreRefused) {
  TempFolder folder;
  std::string file = folder / "f", sub = folder / "sub";
  writeFile(file, "");
  ASSERT_FALSE(sys::fs::create_directory(sub));
  auto refused = [](std::vector<std::string> arguments) {
    std::vector<const char *> list = {"tool"};
    for (const std::string &argument : arguments)
      list.push_back(argument.c_str());
    return errorToBool(refuseOverwriting(list));
  };
  for (const char *o : {"-o", "--o"}) {
    EXPECT_TRUE(refused({file, o, file}));
    EXPECT_TRUE(refused({o, file, file}));
    EXPECT_TRUE(refused({file, o + ("=" + file)}));
    EXPECT_FALSE(refused({file, o, file + "2"}));
    EXPECT_FALSE(refused({file, o})) << "others say that its value is missing";
  }
  EXPECT_FALSE(refused({file, file}));
  EXPECT_FALSE(refused({"/dev/null", "-o", "/dev/null"})) << "a device";
  EXPECT_TRUE(refused({sub, "-o", sub}));
}

/// Marks tell files of another size or content apart; what is no file has none.
TEST(FileIdentity, MarksTellContentsApart) {
  TempFolder folder;
  unsigned blocks = 0;
  auto markOf = [&](const std::string &path) {
    return contentMark(path, [&] { ++blocks; });
  };
  auto mark = [&](const std::string &text) {
    writeFile(folder / "f", text);
    return markOf(folder / "f");
  };
  for (size_t size : {0, 1, 4096, 4097, 300000}) {
    std::string text(size, 'a');
    EXPECT_EQ(mark(text), mark(text));
    EXPECT_NE(mark(text), mark(text + "a"));
    for (size_t at : {size_t(0), size - 1})
      if (size > 0) {
        std::string other = text;
        other[at] = 'b';
        EXPECT_NE(mark(text), mark(other)) << size << ", " << at;
      }
  }
  blocks = 0;
  mark(std::string(1 << 20, 'a'));
  EXPECT_EQ(blocks, 64u) << "each block is a sign of progress";
  EXPECT_EQ(markOf(folder.path), "");
  EXPECT_EQ(markOf(folder / "nowhere"), "");
  EXPECT_EQ(markOf("/dev/null"), "");
}

TEST(Json, FilesHaveALargestSize) {
  TempFolder folder;
  writeFile(folder / "f", "[12]");
  EXPECT_EQ(take(readTextFile(folder / "f", 4)), "[12]");
  EXPECT_HAS(textOf(readTextFile(folder / "f", 3)),
             "f: file of 4 bytes is too large, at most 3");
  Folder opened = take(Folder::open(folder.path));
  EXPECT_HAS(textOf(readTextFile(opened, "f", 3)), "at most 3");
  EXPECT_HAS(textOf(readJsonFile(folder / "f", 3)), "at most 3");
  EXPECT_HAS(textOf(readJsonFile(folder / "nowhere")), "cannot open");
}

/// Brackets in a string nest nothing; a backslash keeps the quote behind it in.
TEST(Json, DepthIsThatOfBracketsOutsideOfStrings) {
  std::string many(100, '[');
  auto faultOf = [](const std::string &text) {
    Expected<json::Value> value = parseJson("file", text, 8);
    return value ? std::string() : toString(value.takeError());
  };
  EXPECT_EQ(faultOf("[\"" + many + "\"]"), "");
  EXPECT_EQ(faultOf("[\"\\\"" + many + "\"]"), "");
  EXPECT_EQ(faultOf("[\"\\\\\", \"" + many + "\"]"), "");
  EXPECT_HAS(faultOf("[\"\\\\\", " + many), "nested deeper than 8");
  EXPECT_EQ(faultOf("[[[[[[[[]]]]]]], [[[[[[{}]]]]]]]"), "");
  EXPECT_HAS(faultOf("[[[[[[[[]]]]]]], [[[[[[[{}]]]]]]]]"),
             "nested deeper than 8");
}

/// Rounded first, so that no part is 60.
TEST(Progress, TimesAreRoundedAndNamed) {
  using tprun::durationText;
  for (auto [seconds, text] : {std::pair(-1.0, "0 s"),
                               {0.0, "0 s"},
                               {0.49, "0 s"},
                               {0.5, "1 s"},
                               {59.4, "59 s"},
                               {59.5, "1 min 00 s"},
                               {69.0, "1 min 09 s"},
                               {3599.4, "59 min 59 s"},
                               {3599.5, "1 h 00 min"},
                               {2 * 3600 + 5 * 60 + 59.0, "2 h 05 min"},
                               {360000.0, "100 h 00 min"}})
    EXPECT_EQ(durationText(seconds), text) << seconds;
}

} // namespace
} // namespace colrow::runtime::test
