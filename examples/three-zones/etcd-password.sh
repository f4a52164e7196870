# Once, after etcd runs in all zones: from now on it serves only clients with the password.
export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=10.0.1.10:2379
etcdctl user add root:etcd-secret
etcdctl user grant-role root root
etcdctl auth enable
