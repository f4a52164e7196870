"""The PyFilesystem passes PyFilesystem's own conformance suite."""

import unittest
from dataclasses import replace

import pytest
from fs.test import FSTestCases

from strongroom_storage_s3.filesystem import StrongroomS3FS
from strongroom_storage_s3.options import S3Options


class TestStrongroomS3FS(FSTestCases, unittest.TestCase):
    # The suite uses the old name, which warns in Python 3.11 and is gone in 3.12.
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex  # noqa: N815

    @pytest.fixture(autouse=True)
    def in_an_empty_bucket(self, options: S3Options) -> None:
        self.options = replace(options, prefix="strongroom/files")

    def make_fs(self) -> StrongroomS3FS:
        return StrongroomS3FS(self.options)
