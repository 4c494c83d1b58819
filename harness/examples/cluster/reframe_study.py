"""A study in shards as a ReFrame test: every shard is a job, the merge checks images and logs rates.

    reframe -c reframe_study.py -r -S folder=/shared/study -S study="cornell -b all --spp 1..1024 --repeats 6"
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import fixture, parameter, run_before, sanity_function, variable

SHARDS = 4


class Lockstep(rfm.RunOnlyRegressionTest):
    study = variable(str, value="cornell --spp 1..64")
    folder = variable(str, value="study")
    program = variable(str, value="lockstep")
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    @run_before("run")
    def name_the_program(self):
        self.executable = self.program


class Shard(Lockstep):
    shard = parameter(range(1, SHARDS + 1))

    @run_before("run")
    def name_the_shard(self):
        self.executable_opts = ["study", self.study, "-o", self.folder, "--shard", f"{self.shard}/{SHARDS}"]

    @sanity_function
    def is_done(self):
        return sn.assert_found(rf"shard {self.shard} of {SHARDS} is done", self.stderr)


@rfm.simple_test
class Study(Lockstep):
    shards = fixture(Shard, scope="environment", action="join")

    @run_before("run")
    def merge(self):
        self.executable_opts = ["merge", self.folder, "--json"]

    @sanity_function
    def images_agree(self):
        return sn.assert_eq(self.job.exitcode, 0)

    @run_before("performance")
    def rates(self):
        """The rate of every target at the last level of every scene, in million rays a second."""
        with open(os.path.join(self.folder, "records.jsonl")) as lines:
            timings = [r for r in map(json.loads, lines) if r["kind"] == "timing"]
        self.perf_variables = {
            f"{r['scene']} on {r['target']}": sn.make_performance_function(lambda r=r: r["mrays_inclusive"], "Mrays/s")
            for r in timings
        }
