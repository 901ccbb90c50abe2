"""Extra-P: from the measurements of a study it finds the leading exponents that the study's own models have.

    read_extrap.py MEASUREMENTS.jsonl MODELS.json      (lb-report study export --extrap, lb-report study model --json)
"""

import json
import sys

from extrap.entities.callpath import Callpath
from extrap.entities.metric import Metric
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
from extrap.modelers.model_generator import ModelGenerator

experiment, models = read_jsonlines_file(sys.argv[1]), json.load(open(sys.argv[2]))
[parameter] = [str(one) for one in experiment.parameters]
generator = ModelGenerator(experiment)
generator.model_all()


def exponent(call_path, metric):
    """The largest exponent of the parameter, and the model in words."""
    function = generator.models[Callpath(call_path), Metric(metric)].hypothesis.function
    terms = [simple for compound in function.compound_terms for simple in compound.simple_terms]
    logarithms = [simple for simple in terms if simple.term_type != "polynomial"]
    assert not logarithms, function
    return max((float(simple.exponent) for simple in terms), default=0.0), function.to_string(parameter)


n = 0
for phase in models["phases"]:
    for relation in phase["relations"]:
        quantity, region = relation["to"].split(" ", 1)
        metric = {"#op": "operations", "#q": "quanta", "T_comp": "computation", "T_comm": "mpi"}.get(quantity)
        # A region that has others in it has their time, too, in Extra-P's metrics.
        if relation["from"] != parameter or metric is None or region == "main" or not relation["polynomial"]:
            continue
        found, function = exponent(region.replace("/", "->"), metric)
        expected = relation["polynomial"]["fit"]["degree"]
        print(f"{relation['to']}: degree {expected}; Extra-P: {function}")
        assert found == expected
        n += 1
assert n >= 4, "a study of a multiplication of matrices has so many relations"
