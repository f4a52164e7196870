"""The contract tests of what people read about a plugin's audit records."""

from strongroom.testing.state import OpenedPlugin


class AuditSentencesContract:
    """The rules of ``register_audit_sentences``. Requires a fixture ``opened``."""

    def test_each_sentence_is_one_line_without_a_full_stop(self, opened: OpenedPlugin) -> None:
        sentences = opened.services.registry.audit_sentences
        ours = [item for name, item in sentences.items() if name.startswith(f"{opened.name}.")]
        assert ours
        for item in ours:
            assert item.text == " ".join(item.text.split()), f"{item.action}: write one line"
            assert item.text, f"{item.action} has no sentence"
            assert not item.text.endswith("."), f"the sentence of {item.action} is a line of a list"
