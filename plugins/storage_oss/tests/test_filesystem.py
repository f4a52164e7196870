"""The OSS filesystem passes PyFilesystem's own conformance suite."""

import unittest
from dataclasses import replace

import pytest
from fs.test import FSTestCases

from strongroom_storage_oss.filesystem import OssFS
from strongroom_storage_oss.options import OssOptions


class TestOssFS(FSTestCases, unittest.TestCase):
    @pytest.fixture(autouse=True)
    def use_simulator(self, options: OssOptions) -> None:
        self.options = options

    def make_fs(self) -> OssFS:
        return OssFS(self.options)


class TestOssFSBelowAPrefix(TestOssFS):
    def make_fs(self) -> OssFS:
        return OssFS(replace(self.options, prefix="some/folder"))
