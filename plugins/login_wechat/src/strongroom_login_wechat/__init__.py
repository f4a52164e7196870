"""Login method for WeChat: website QR codes and mini programs."""
