"""Studies read into Python. `python3 -m unittest discover -s harness/python/tests` from the root."""

import json
import math
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "harness" / "python"))

import lockstep  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None


def study(folder, *lines):
    Path(folder, "records.jsonl").write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return lockstep.read(folder)


class Reading(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_of_several_records_about_the_same_the_last_counts_and_all_notes_do(self):
        note = {"kind": "note", "text": "x"}
        timing = {"kind": "timing", "scene": "s", "target": "t", "spp_from": 0, "spp_to": 1, "seed": 0, "repeat": 0}
        read = study(self.folder.name, {**timing, "total_ms": 1.0}, note, {**timing, "total_ms": 2.0}, note)
        self.assertEqual([r["total_ms"] for r in read.records["timing"]], [2.0])
        self.assertEqual(len(read.records["note"]), 2)
        self.assertEqual(read.kinds, ["timing", "note"])

    def test_records_are_about_what_the_reports_take_them_to_be_about(self):
        source = (ROOT / "reports" / "records" / "src" / "record.rs").read_text(encoding="utf-8")
        row = re.compile(r'\] \w+ = "(\w+)"(?: or "\w+")? key \[([^]]*)\];')
        keys = {kind: tuple(filter(None, fields.split(", "))) for kind, fields in row.findall(source)}
        self.assertEqual(keys.pop("skip"), ("target", "scene"))
        self.assertEqual(keys.pop("note"), ("scene", "target", "text"))
        self.assertEqual(lockstep._ABOUT, keys)

    def test_labels_of_configurations_in_older_files_are_those_of_today(self):
        read = study(self.folder.name, {"kind": "tune", "configuration": "in-place/group=64", "scheduling": "in-place"})
        record = read.records["tune"][0]
        self.assertEqual((record["configuration"], record["scheduling"]), ("no-compaction/group=64", "no-compaction"))

    def test_every_schedule_of_a_group_counts(self):
        sharing = {"kind": "sharing", "scene": "s", "group": "together(a,b)", "targets": ["a", "b"], "seed": 0}
        read = study(self.folder.name, {**sharing, "schedule": "equal"}, {**sharing, "schedule": "demand"})
        self.assertEqual([r["schedule"] for r in read.records["sharing"]], ["equal", "demand"])

    def test_a_torn_last_line_is_left_out_and_a_broken_one_before_is_named(self):
        note = {"kind": "note", "text": "x"}
        self.assertEqual(len(study(self.folder.name, note, '{"kind": "no').records["note"]), 1)
        with self.assertRaisesRegex(lockstep.StudyError, "line 1"):
            study(self.folder.name, "{\n", note)

    def test_a_folder_that_is_no_study_is_named_with_a_remedy(self):
        with self.assertRaisesRegex(lockstep.StudyError, "lockstep study -o"):
            lockstep.read(self.folder.name)

    def test_recorded_studies_are_read_whole(self):
        read = lockstep.read(ROOT / "reports" / "recorded" / "h200-cuda-opencl")
        self.assertEqual(len(read.records["difference"]), 99)
        self.assertTrue(all(r["identical"] for r in read.records["difference"]))
        self.assertIn("H200", json.dumps(read.environment["targets"]))

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_frames_have_a_row_for_every_record_and_numbers_that_json_cannot_hold(self):
        difference = {"kind": "difference", "scene": "inf", "a": "x", "b": "y"}
        lines = [{**difference, "spp": spp, "psnr": psnr} for spp, psnr in ((1, "inf"), (2, 40.5), (4, "nan"))]
        frame = study(self.folder.name, *lines).frame("difference")
        self.assertEqual(list(frame["scene"]), ["inf"] * 3)
        self.assertEqual(frame["psnr"].dtype, float)
        self.assertEqual(list(frame["psnr"])[:2], [math.inf, 40.5])
        self.assertTrue(math.isnan(frame["psnr"][2]))
        with self.assertRaisesRegex(lockstep.StudyError, "it has difference"):
            study(self.folder.name, *lines).frame("timing")

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_rates_of_a_recorded_study_are_its_tables(self):
        frame = lockstep.read(ROOT / "reports" / "recorded" / "h200-cuda-opencl").frame("timing")
        sums = frame.groupby(["scene", "target"])[["samples", "total_ms"]].sum()
        rate = sums.loc[("cornell", "cuda@0")]
        self.assertAlmostEqual(rate["samples"] / rate["total_ms"] / 1e3, 2361, delta=10)


if __name__ == "__main__":
    unittest.main()
