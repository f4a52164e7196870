# Once, after Redis runs on nine machines. Each shard has a node in each zone; the first three lines are the primaries.
export REDISCLI_AUTH=redis-secret
redis-cli --cluster create --cluster-yes --cluster-replicas 2 \
    10.0.1.10:6379 10.0.2.11:6379 10.0.3.12:6379 \
    10.0.2.12:6379 \
    10.0.2.10:6379 10.0.3.10:6379 \
    10.0.1.11:6379 10.0.3.11:6379 \
    10.0.1.12:6379
