"""First and family names for the hospital's patients, by sex, birth cohort and origin of the family.

The lists hold common names; who is made of them is nobody. Names come in the order of how frequent
they are.
"""

from __future__ import annotations

COHORTS = (1900, 1940, 1960, 1980, 2000)
"""The first birth year of each cohort."""

LOCAL_WOMEN = (
    "Gertrud Erna Hildegard Ilse Margarete Elfriede Irmgard Herta Edith Käthe Anneliese Hedwig",
    "Ursula Karin Renate Helga Monika Ingrid Gisela Christa Brigitte Elke Bärbel Hannelore",
    "Sabine Susanne Petra Andrea Claudia Martina Birgit Kerstin Anja Heike Silke Nicole",
    "Julia Katharina Anna Sarah Stefanie Christina Lisa Jennifer Laura Franziska Nadine Vanessa",
    "Mia Emma Hannah Lena Lea Marie Sophie Leonie Clara Emilia Ida Johanna",
)
LOCAL_MEN = (
    "Karl Heinz Walter Werner Hans Kurt Erich Wilhelm Herbert Otto Friedrich Alfred",
    "Peter Klaus Jürgen Dieter Manfred Wolfgang Günter Horst Bernd Gerhard Helmut Rolf",
    "Thomas Michael Andreas Stefan Frank Uwe Jörg Ralf Matthias Torsten Dirk Holger",
    "Christian Daniel Sebastian Alexander Tobias Florian Jan Patrick Philipp Benjamin Dennis Marcel",
    "Leon Paul Finn Ben Jonas Elias Felix Maximilian Noah Moritz Jakob Anton",
)
LOCAL_FAMILIES = (
    "Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Koch Bauer Richter Klein "
    "Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Werner Krause Lehmann "
    "Köhler Maier König Walter Huber Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn Vogel Keller "
    "Schubert Roth Frank Winkler Beck Lorenz Baumann Franke Albrecht Schuster Böhm Kraus Winter "
    "Krämer Vogt Stein Brandt Sommer Haas Graf Heinrich Seidel Ziegler Kuhn Pohl Engel Horn Busch Bergmann "
    "Sauer Arnold Pfeiffer Egger Gruber Zürcher Ammann Bühler"
)

ORIGINS: dict[str, tuple[str, str, str]] = {
    "Turkey": (
        "Fatma Ayşe Emine Elif Zeynep Hatice Merve Esra",
        "Mehmet Mustafa Ahmet Ali Emre Murat Hasan Yusuf",
        "Yılmaz Kaya Demir Şahin Çelik Yıldız Öztürk Aydın Arslan Doğan",
    ),
    "Poland and Russia": (
        "Agnieszka Irina Katarzyna Olga Magdalena Natalia Svetlana Ewa",
        "Piotr Dmitri Andrzej Sergej Tomasz Viktor Pawel Igor",
        "Nowak Kowalski Iwanow Wójcik Petrow Lewandowski Mazur Smirnow Zielinski Sokolow",
    ),
    "southern Europe": (
        "Maria Giulia Francesca Elena Carmen Sofia Chiara Eleni",
        "Giuseppe Antonio Marco Luca José Dimitrios Salvatore Manuel",
        "Rossi Russo Garcia Ferrari Esposito Papadopoulos Costa Silva Fernandez Ricci",
    ),
    "Balkans": (
        "Ana Jelena Marija Mirela Vesna Arta Ivana Besa",
        "Marko Ivan Nikola Arben Dragan Milan Besim Goran",
        "Horvat Jovanović Krasniqi Kovačević Nikolić Gashi Babić Petrović Hoxha Marić",
    ),
    "Middle East": (
        "Fatima Maryam Aisha Leila Noor Rania Zahra Amira",
        "Mohammed Omar Hussein Ibrahim Khaled Amir Karim Reza",
        "Hassan Ahmadi Khalil Haddad Mansour Saleh Karimi Nasser Hosseini Aziz",
    ),
    "Vietnam": (
        "Linh Mai Huong Lan Trang Anh Phuong Thao",
        "Minh Duc Tuan Hung Quang Nam Thanh Long",
        "Nguyen Tran Le Pham Hoang Vu Dang Bui Do Ngo",
    ),
}
"""Women's, men's and family names by origin; those of the region itself are above."""

ORIGIN_SHARES = (
    (0.95, 0.004, 0.03, 0.006, 0.004, 0.003, 0.003),
    (0.88, 0.025, 0.05, 0.02, 0.015, 0.006, 0.004),
    (0.80, 0.055, 0.065, 0.03, 0.025, 0.015, 0.01),
    (0.74, 0.08, 0.06, 0.03, 0.035, 0.04, 0.015),
    (0.68, 0.095, 0.055, 0.03, 0.045, 0.08, 0.015),
)
"""By birth cohort: the share of the region itself and of each origin in the order above."""
