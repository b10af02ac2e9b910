"""phe: Paillier's cipher, counters encrypted, added up and decrypted."""

from __future__ import annotations

from asked import answer, job, measured
from phe import paillier

asked = job()
public, private = paillier.generate_paillier_keypair(n_length=asked["bits"])
numbers = asked["numbers"]
encrypted, encrypting = measured(lambda: [public.encrypt(each) for each in numbers])
total, adding = measured(lambda: sum(encrypted[1:], encrypted[0]))
decrypted, decrypting = measured(lambda: [private.decrypt(each) for each in encrypted])
answer(
    "phe",
    encrypt_seconds=encrypting["seconds"],
    add_seconds=adding["seconds"],
    decrypt_seconds=decrypting["seconds"],
    megabytes=encrypting["megabytes"],
    total=private.decrypt(total),
    right=decrypted == numbers,
)
