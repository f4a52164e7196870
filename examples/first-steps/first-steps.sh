#!/usr/bin/env bash
# The first steps with a running server: from a new user to a downloaded file with the right checksum.
#
#   make serve                                   # in one terminal
#   examples/first-steps/first-steps.sh          # in another, from the root of the source tree
#
# BASE               the server's URL
# SIZE_MIB           size of the uploaded file
# STRONGROOM         the command, which creates the user
# STRONGROOM_CONFIG  the server's configuration file, if any
set -euo pipefail

BASE=${BASE:-http://127.0.0.1:8000}
SIZE_MIB=${SIZE_MIB:-1}
STRONGROOM=${STRONGROOM:-.venv/bin/strongroom}
PARTS=4
REFUSALS=20

EMAIL="first-steps-$(date +%s)-$RANDOM@example.com"
PASSWORD=Correct1Horse
TOKEN=
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

step() { printf '\n== %s\n' "$*"; }
say() { printf '   %s\n' "$*"; }
fail() { printf 'first-steps: %s\n' "$*" >&2; exit 1; }

# field NAME: one member of the JSON object on standard input.
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# request STATUS METHOD PATH [CURL OPTION...]: writes the response body to $WORK/answer and checks the status.
request() {
    local wanted=$1 method=$2 path=$3 got
    shift 3
    got=$(curl --silent --show-error --request "$method" --header "Authorization: Bearer $TOKEN" \
        --output "$WORK/answer" --write-out '%{http_code}' "$@" "$BASE$path")
    [ "$got" = "$wanted" ] || fail "$method $path: $got instead of $wanted: $(head -c 500 "$WORK/answer")"
}

send_json() {
    local wanted=$1 path=$2 body=$3
    request "$wanted" POST "$path" --header 'Content-Type: application/json' --data "$body"
}

sha256() { python3 -c 'import hashlib, sys; print(hashlib.file_digest(sys.stdin.buffer, "sha256").hexdigest())'; }

step "Create a user from the command line"
USER_ID=$(printf '%s' "$PASSWORD" \
    | "$STRONGROOM" users create --email "$EMAIL" --name Alice --password-stdin --json | field id)
say "$EMAIL is $USER_ID"

step "Log in"
send_json 200 /authorizations "{\"username\": \"$EMAIL\", \"password\": \"$PASSWORD\"}"
TOKEN=$(field accessToken <"$WORK/answer")
say "the token is valid until $(field expiresAt <"$WORK/answer")"

step "Create a tenant and a folder in it"
send_json 201 /api/v1/tenants '{"name": "Acme"}'
TENANT=/api/v1/tenants/$(field id <"$WORK/answer")
send_json 201 "$TENANT/folders" '{"name": "Reports"}'
FOLDER=$(field id <"$WORK/answer")
say "$TENANT/files/$FOLDER"

step "Upload $SIZE_MIB MiB"
head -c "$((SIZE_MIB * 1024 * 1024))" /dev/urandom >"$WORK/report.bin"
SHA256=$(sha256 <"$WORK/report.bin")
request 201 POST "$TENANT/files/$FOLDER/files" --form "file=@$WORK/report.bin"
FILE=$(field id <"$WORK/answer")
SIZE=$(field size <"$WORK/answer")
CHECKSUM=$(field checksum <"$WORK/answer")
say "$FILE has $SIZE bytes, $CHECKSUM"
[ "$CHECKSUM" = "sha256:$SHA256" ] || fail "the file had sha256:$SHA256"

step "List the folder"
request 200 GET "$TENANT/owners/me/files/$FOLDER/files"
NAMES=$(python3 -c 'import json, sys; print(*(node["name"] for node in json.load(sys.stdin)["data"]))' \
    <"$WORK/answer")
say "$NAMES"
[ "$NAMES" = report.bin ] || fail "expected only report.bin"

step "Download it in $PARTS ranges"
LENGTH=$(((SIZE + PARTS - 1) / PARTS))
for ((start = 0; start < SIZE; start += LENGTH)); do
    request 206 GET "$TENANT/files/$FILE/download" --range "$start-$((start + LENGTH - 1))"
    cat "$WORK/answer" >>"$WORK/copy.bin"
done
COPY=$(sha256 <"$WORK/copy.bin")
say "sha256:$COPY"
[ "$COPY" = "$SHA256" ] || fail "the copy differs from the file"

step "Log out"
request 200 DELETE /authorizations/current
for ((i = 0; i < REFUSALS; i++)); do
    request 401 GET /api/v1/tenants
done
say "the token was refused $REFUSALS times, each time on a new connection"

printf '\nAll is well.\n'
