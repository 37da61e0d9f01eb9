import pytest
from zarr_metadata import built


@pytest.fixture(scope="session")
def hierarchy():
    return built
