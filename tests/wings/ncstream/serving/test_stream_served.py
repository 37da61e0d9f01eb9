"""Streams of every construct, offered over CDM Remote, have their values there too."""

import numpy as np
import pytest
from looped import looped
from stream_reading import close, opened, plain
from structure_constructs import ALL

import refbrowser
from refbrowser.wings.ncstream.serving.service import Service


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("first"), ALL[0].stream) as first, Service(first) as running:
        yield running


@pytest.mark.slow
@looped("construct", ALL)
def test_every_construct_is_served(construct, tmp_path, service):
    with opened(tmp_path, construct.stream) as dataset:
        service.offer(dataset)
        said = service.described()
        changed = {loss.path for loss in said.losses} | {error.place.path for error in said.left_out}
        with refbrowser.open(service.url) as remote:
            for path, wanted in construct.values.items():
                if path not in changed:
                    assert close(plain(np.asarray(remote[path][...])), wanted), path
