"""The simulator's signatures, against the vendor's published examples."""

import hashlib

from strongroom_simulators.sms.signatures import (
    acs3_canonical_request,
    acs3_signature,
    percent_encode,
    rpc_signature,
)

# https://www.alibabacloud.com/help/en/direct-mail/signature
RPC_EXAMPLE = {
    "AccessKeyId": "testid",
    "AccountName": "<a%b'>",
    "Action": "SingleSendMail",
    "AddressType": "1",
    "Format": "XML",
    "HtmlBody": "4",
    "RegionId": "cn-hangzhou",
    "ReplyToAddress": "true",
    "SignatureMethod": "HMAC-SHA1",
    "SignatureNonce": "c1b2c332-4cfb-4a0f-b8cc-ebe622aa0a5c",
    "SignatureVersion": "1.0",
    "Subject": "3",
    "TagName": "2",
    "Timestamp": "2016-10-20T06:27:56Z",
    "ToAddress": "1@test.com",
    "Version": "2015-11-23",
}


def test_version_1_gives_the_published_signature() -> None:
    assert rpc_signature("POST", RPC_EXAMPLE, "testsecret") == "llJfXJjBW3OacrVgxxsITgYaYm0="


def test_version_1_leaves_the_signature_itself_out() -> None:
    signed = {**RPC_EXAMPLE, "Signature": "anything"}
    assert rpc_signature("POST", signed, "testsecret") == "llJfXJjBW3OacrVgxxsITgYaYm0="


def test_version_3_gives_the_published_signature() -> None:
    """From https://www.alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature."""
    payload_hash = hashlib.sha256(b"").hexdigest()
    headers = {
        "host": "ecs.cn-shanghai.aliyuncs.com",
        "x-acs-action": "RunInstances",
        "x-acs-content-sha256": payload_hash,
        "x-acs-date": "2023-10-26T10:22:32Z",
        "x-acs-signature-nonce": "3156853299f313e23d1673dc12e1703d",
        "x-acs-version": "2014-05-26",
    }
    canonical = acs3_canonical_request(
        method="POST",
        path="/",
        query={
            "ImageId": "win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd",
            "RegionId": "cn-shanghai",
        },
        headers=headers,
        signed_headers=headers,
        payload_hash=payload_hash,
    )
    expected = "06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"
    assert acs3_signature(canonical, "YourAccessKeySecret") == expected


def test_encoding_is_that_of_rfc_3986() -> None:
    assert percent_encode("a b*~+/验-_.") == "a%20b%2A~%2B%2F%E9%AA%8C-_."
