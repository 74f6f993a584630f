# RUN: %python %s %t
"""The folder that a test is given by hand: emptied if tests made it, refused if it holds what none made."""
import sys
import tempfile

import colrow

# Not below the folder of this test: all that is there counts as made by tests.
with tempfile.TemporaryDirectory() as top:
    made = colrow.workspace(f"{top}/made")
    (made / "left").touch()
    colrow.workspace(made / "within").joinpath("left").touch()
    colrow.check(not any(colrow.workspace(made).iterdir()), "what an earlier run left is still there")
    strange = made.with_name("strange")
    strange.mkdir()
    colrow.workspace(strange)  # is empty
    kept = made.with_name("kept") / "file"
    kept.parent.mkdir()
    kept.touch()
    try:
        colrow.workspace(kept.parent)
    except SystemExit as refused:
        colrow.check("give a folder that is new or empty" in str(refused), f"refused with {refused}")
    else:
        sys.exit("a folder with another's file was accepted")
    colrow.check(kept.exists(), "another's file is deleted")
